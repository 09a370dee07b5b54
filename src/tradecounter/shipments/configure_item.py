"""Adds provisioning configurations to an item (specification, section 4; configurations)."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import asdict

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import ErrorCollector, invalid, not_found, require_text
from tradecounter.orders.history import audit_order
from tradecounter.orders.lines import OrderLine, with_parts
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.queries.orders import lock_order
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.queries.reads import configurability
from tradecounter.shipments.queries.writes import insert_configurations
from tradecounter.shipments.wire import ConfigurationRequest

_LONGEST = 200


async def configure_item(
    tx: Transaction,
    order_id: int,
    item_id: int,
    configurations: Sequence[ConfigurationRequest],
    vault: ProvisioningVault,
    now: datetime,
) -> OrderLine:
    """Add configurations to an item of an order, or to a component of a bundle; return the item.

    Locks the order, so concurrent requests cannot exceed the quantity. Raises DomainError: not found, invalid
    (cancelled, not configurable, more than the remaining units), unavailable (the secret key was replaced).
    """
    _check(configurations)
    order = await lock_order(tx, order_id)
    line = next((part for part in with_parts(await lines_of_order(tx, order.id)) if part.id == item_id), None)
    found = None if line is None else await configurability(tx, line.id)
    if line is None or found is None:
        raise not_found("item", item_id)
    if not isinstance(order, ConfirmedOrder):
        raise invalid("reference", "the order was cancelled: its items cannot be configured")
    if not found.configurable:
        raise invalid("orderItemId", f"{item_id} ({line.sku}) is not configurable")
    remaining = max(line.quantity - found.configured, 0)
    if len(configurations) > remaining:
        left = f"the item takes at most {remaining} more" if remaining else "all units of the item are configured"
        raise invalid("configurations", left)
    sealed = await vault.seal_all(tx, configurations)
    await insert_configurations(tx, line.id, sealed, now)
    after = {"item": line.id, "configurations": len(sealed)}
    audit_order(tx, "order.configure", order, now, after=after)
    return line


def _check(configurations: Sequence[ConfigurationRequest]) -> None:
    collector = ErrorCollector()
    for number, configuration in enumerate(configurations):
        for field, text in asdict(configuration).items():
            with collector.collecting():
                if text is not None:
                    require_text(f"configurations[{number}].{field}", text, _LONGEST)
    collector.check()
