"""What of orders can be invoiced now, and what it comes to."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import Struct

from tradecounter.billing.queries.invoices import invoiced_of
from tradecounter.billing.rules import Billed, Share, can_invoice, shares_to_invoice
from tradecounter.db.transaction import Transaction
from tradecounter.kit.money import NOTHING
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.states import ConfirmedOrder


class ToInvoice(Struct, frozen=True):
    """Dispatched units of an order that no invoice contains, and the net and the VAT of its shipping.

    `shipping` is None if an earlier invoice contains it.
    """

    shares: Sequence[Share]
    shipping: tuple[Decimal, Decimal] | None

    @property
    def gross(self) -> Decimal:
        """The units and the shipping with VAT."""
        return sum((share.net + share.vat for share in self.shares), sum(self.shipping or (), NOTHING))


def to_invoice(
    order: ConfirmedOrder, lines: Sequence[OrderLine], invoiced: Mapping[int | None, Billed]
) -> ToInvoice | None:
    """Return what can be invoiced, or None."""
    by_line = {line_id: billed for line_id, billed in invoiced.items() if line_id is not None}
    shares = shares_to_invoice(lines, by_line, order.tax_rate)
    left = sum(line.left for line in lines)
    if not can_invoice(sum(share.units for share in shares), left, order.shipping_net, invoiced=bool(invoiced)):
        return None
    return ToInvoice(shares, None if invoiced else (order.shipping_net, order.shipping_tax))


async def gross_to_invoice(
    tx: Transaction, orders: Sequence[ConfirmedOrder], lines: Mapping[int, Sequence[OrderLine]]
) -> dict[int, Decimal]:
    """Return what an invoice of each order would come to with VAT, by the order's id; one without is missing."""
    invoiced = await invoiced_of(tx, [order.id for order in orders])
    found = ((order.id, to_invoice(order, lines[order.id], invoiced[order.id])) for order in orders)
    return {order_id: part.gross for order_id, part in found if part is not None}
