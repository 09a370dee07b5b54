"""What the demo's users have in their lists and baskets, and what they ask."""

from datetime import datetime

from tradecounter.baskets.queries import add_lines
from tradecounter.customer_requests.handle_requests import RequestDetails, open_request
from tradecounter.customer_requests.queries import count_open
from tradecounter.db.transaction import Transaction
from tradecounter.demo.queries import some_products
from tradecounter.edge.people import CustomerUser
from tradecounter.orders.queries.all_orders import OrderFilter, list_all_orders
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


async def ask_about_an_order(tx: Transaction, user: CustomerUser, now: datetime) -> None:
    """Have a user ask about the company's latest order; once."""
    latest = await list_all_orders(tx, OrderFilter(customer_id=user.customer_id, state="confirmed"), 1)
    if not latest or await count_open(tx, user.customer_id):
        return
    asked = RequestDetails(text="Can the driver ring half an hour before? The site is locked.")
    await open_request(tx, user, latest[0].name, "message", asked, now)
