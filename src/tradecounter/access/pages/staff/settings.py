"""`/settings`: the settings in force, for administrators."""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.access.pages.staff.members import ADMINISTRATORS
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts
from tradecounter.settings import PREFIX, Settings, describe


class SettingPages(Struct, frozen=True):
    """The settings of this process."""

    desk: PageDesk
    parts: OfficeParts

    @page("/settings", "Settings", roles=ADMINISTRATORS)
    async def show_settings(self, call: Call) -> Response:
        without = {row["name"]: row["value"] for row in describe(Settings())}
        rows = describe(self.parts.settings)
        own = [row for row in rows if row["value"] != without[row["name"]]]
        defaults = [row for row in rows if row not in own]
        return self.desk.show(call, "access/settings.html", own=own, defaults=defaults, prefix=PREFIX)
