"""`/settings`: the settings in force, for administrators."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.access.pages.staff.members import ADMINISTRATORS
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts
from tradecounter.settings import PREFIX, Settings, describe


@dataclass(frozen=True, slots=True)
class SettingPages:
    """The settings of this process."""

    desk: PageDesk
    parts: OfficeParts

    @page("/settings", "Settings", roles=ADMINISTRATORS)
    async def show_settings(self, call: Call) -> Response:
        defaults = {row["name"]: row["value"] for row in describe(Settings())}
        rows = [(row, row["value"] != defaults[row["name"]]) for row in describe(self.parts.settings)]
        rows.sort(key=lambda row: not row[1])
        return self.desk.show(call, "access/settings.html", rows=rows, prefix=PREFIX)
