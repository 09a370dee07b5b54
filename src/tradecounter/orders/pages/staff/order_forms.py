"""What the forms of one order share: each shows the order."""

from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown_order import shown_order


class OrderForms(Struct, frozen=True):
    """A group of forms of an order."""

    desk: PageDesk
    parts: OfficeParts

    async def shown(self, call: Call, template: str, filled: Filled, **values: Any) -> Response:
        """Show a form of the order that the path names."""
        async with self.desk.reading() as tx:
            shown = await shown_order(tx, self.parts.orders, call, self.desk.clock.now())
        return self.desk.show(call, template, form=filled, shown=shown, **values)


def reference_of(call: Call) -> str:
    """Return the order's reference in a path."""
    return call.path_text("reference", "order")
