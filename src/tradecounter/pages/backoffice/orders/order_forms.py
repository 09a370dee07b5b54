"""What the forms of one order share: each shows the order, takes a step with it and leads back to it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.page_kit.forms import Filled, Submitted
from tradecounter.pages.backoffice.orders.shown import shown_order
from tradecounter.pages.backoffice.parts import OfficeParts
from tradecounter.pages.page_desk import PageDesk, Shape
from tradecounter.rest.call import Call

Step = Callable[[Transaction, Shape, datetime], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class OrderForms:
    """A group of forms of an order."""

    desk: PageDesk
    parts: OfficeParts

    async def shown(self, call: Call, template: str, filled: Filled, **values: Any) -> Response:
        """Show a form of the order that the path names."""
        async with self.desk.reading() as tx:
            shown = await shown_order(tx, self.parts.orders, call, self.desk.clock.now())
        return self.desk.show(call, template, form=filled, shown=shown, **values)

    async def taken(
        self,
        call: Call,
        shape: type[Shape],
        step: Step[Shape],
        template: str,
        done: str | Callable[[Any], str],
        *,
        to: str | Callable[[Any], str] = "",
        submitted: Submitted | None = None,
    ) -> Response:
        """Take a step with the order, and lead to it, or to the path `to`."""
        return await self.desk.change(
            call,
            shape,
            step,
            again=lambda filled: self.shown(call, template, filled),
            to=to or f"/order/{reference_of(call)}",
            done=done,
            submitted=submitted,
        )


def reference_of(call: Call) -> str:
    """Return the order's reference in a path."""
    return call.path_text("reference", "order")
