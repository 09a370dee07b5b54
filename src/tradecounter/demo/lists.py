"""What the demo's users have in their lists and baskets."""

from datetime import datetime

from tradecounter.baskets.queries import add_lines
from tradecounter.db.transaction import Transaction
from tradecounter.demo.queries import some_products
from tradecounter.edge.people import CustomerUser
from tradecounter.saved_lists.queries import insert_list, lists_of, put_lines

_KITS = (("Office move", True, 0), ("Van stock", False, 40))
_UNITS = (10, 2, 4, 1, 6)


async def fill_lists(tx: Transaction, user: CustomerUser, now: datetime) -> None:
    """Give a user's company a list, the user one of its own, and a basket; once."""
    there = {each.shared for each in await lists_of(tx, user)}
    if False in there:
        return
    for name, shared, first in _KITS:
        if shared in there:
            continue
        found = await some_products(tx, first, len(_UNITS))
        list_id = await insert_list(tx, user, name, now, shared=shared)
        await put_lines(tx, list_id, list(zip(found, _UNITS, strict=False)))
    basket = [(product_id, 2) for product_id in await some_products(tx, 60, 2)]
    await add_lines(tx, user.id, basket, 2)
