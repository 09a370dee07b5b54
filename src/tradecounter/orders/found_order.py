"""The schema of one order in the interface document: the fields of confirmed and of pending orders in one type.

It is not a choice of two types, so clients that are generated from the document have one type for an order. It is made
from these two, so that a field and its description stand only there.
"""

from types import GenericAlias
from typing import Annotated, Any, Union

from msgspec import NODEFAULT, UNSET, Struct, UnsetType, defstruct
from msgspec.structs import fields

from tradecounter.orders.wire import CreatedOrderItem, Order, OrderItem, PendingOrderReadBack


def _joined(first: type[Struct], second: type[Struct], description: str, **types: Any) -> type[Struct]:
    """Return a type with the name of the first and the fields of both; fields of only one of them are optional.

    `types` replace the types of fields, which keep their descriptions; None leaves a field out.
    """
    ours, theirs = ({field.name: field for field in fields(kind)} for kind in (first, second))
    members: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for name in dict.fromkeys([*ours, *theirs]):
        always = all(name in each and each[name].default is NODEFAULT for each in (ours, theirs))
        kind = (ours.get(name) or theirs[name]).type
        if name in types:
            kind = types[name] and Annotated[(types[name], *kind.__metadata__)]
        if kind is not None:
            members.append((name, kind) if always else (name, Union[kind, UnsetType], UNSET))  # noqa: UP007
    return defstruct(first.__name__, members, module=__name__, namespace={"__doc__": description}, kw_only=True)


FoundOrderItem = _joined(
    OrderItem,
    CreatedOrderItem,
    "A line of an order, with the current data of the product. A line of a pending order has only the product's `sku`.",
    related_items=GenericAlias(list, ("FoundOrderItem",)),
)
FoundOrder = _joined(
    Order,
    PendingOrderReadBack,
    "A confirmed order; or a pending one, with the fields of its creation.",
    items=GenericAlias(list, (FoundOrderItem,)),
    order_id=None,
    auto_confirm=None,
)
FOUND_ORDERS = GenericAlias(list, (FoundOrder,))
