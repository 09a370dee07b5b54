"""Takes units that came back before they were invoiced off the order: they are not invoiced."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from tradecounter.credit.queries import discharge
from tradecounter.db.transaction import Transaction
from tradecounter.orders.lines import OrderLine, total_costs
from tradecounter.orders.queries.changes import store_changed_order, store_lines
from tradecounter.orders.queries.lines import invoiced_units, lines_of_order
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.orders.units import status_of


async def take_off_unbilled(
    tx: Transaction, order: ConfirmedOrder, received: Mapping[int, int], unaccounted: Mapping[int, int]
) -> tuple[ConfirmedOrder, dict[int, int]]:
    """Return a locked order without the price of received units that are not invoiced, and these units by line id.

    As many of the received units as were credited or taken off before they came back, `unaccounted`, are these very
    units. The others count as not invoiced first, if only some units of their line are invoiced.
    """
    lines, invoiced = await lines_of_order(tx, order.id), await invoiced_units(tx, [order.id])
    units = _unbilled(lines, invoiced, received, unaccounted)
    if not units:
        return order, units
    kept = [
        replace(line, unbilled=line.unbilled + units[line.id]).at_price(line.unit_cost, order.tax_rate)
        if line.id in units
        else line
        for line in lines
    ]
    cost_net, cost_tax = total_costs(kept)
    changed = replace(order, cost_net=cost_net, cost_tax=cost_tax)
    changed = replace(changed, status=status_of(kept, invoiced, changed.due))
    await store_lines(tx, kept)
    await store_changed_order(tx, changed)
    await discharge(tx, order.customer_id, order.gross - changed.gross)
    return changed, units


def _unbilled(
    lines: Sequence[OrderLine],
    invoiced: Mapping[int | None, int],
    received: Mapping[int, int],
    unaccounted: Mapping[int, int],
) -> dict[int, int]:
    units = {
        line.id: min(
            received.get(line.id, 0) - unaccounted.get(line.id, 0),
            line.dispatched - line.unbilled - invoiced.get(line.id, 0),
        )
        for line in lines
    }
    return {line_id: unbilled for line_id, unbilled in units.items() if unbilled > 0}
