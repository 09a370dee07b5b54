"""What the demo's users have in their lists and baskets and what they ask, and what staff know and keep."""

from datetime import datetime, timedelta

from tradecounter.baskets.queries import add_lines
from tradecounter.customer_notes.keep_notes import add_contact, add_note
from tradecounter.customer_notes.queries import Contact, contacts_of
from tradecounter.customer_requests.handle_requests import RequestDetails, open_request
from tradecounter.customer_requests.queries import count_requests
from tradecounter.db.transaction import Transaction
from tradecounter.demo.queries import some_products
from tradecounter.edge.people import CustomerUser
from tradecounter.kit.local_time import uk_date
from tradecounter.orders.queries.all_orders import OrderFilter, list_all_orders
from tradecounter.saved_lists.queries import insert_list, lists_of, put_lines
from tradecounter.saved_views.queries import insert_view

_KITS = (("Office move", True, 0), ("Van stock", False, 40))
_UNITS = (10, 2, 4, 1, 6)
_PEOPLE = (
    Contact(0, "Priya Nair", "Deliveries", "goods@harbourline.example", "023 8096 0142"),
    Contact(0, "Tom Adeyemi-Holt", "Invoices", "accounts@harbourline.example", "023 8096 0177"),
)
_PAYS_IN = timedelta(days=6)
_VIEWS = (("To dispatch", "/order", "status=To+dispatch"), ("Overdue", "/invoice", "show=overdue"))


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
    if not latest or await count_requests(tx, user.customer_id, "open"):
        return
    asked = RequestDetails(text="Can the driver ring half an hour before? The site is locked.")
    await open_request(tx, user.customer_id, latest[0].name, "message", asked, now, user_id=user.id)


async def know_a_customer(tx: Transaction, customer_id: int, now: datetime) -> None:
    """Give a customer people, and a note with a promise to pay; once."""
    if await contacts_of(tx, customer_id):
        return
    for person in _PEOPLE:
        await add_contact(tx, customer_id, person, now)
    text = "Tom called: their new system went live last week, so the two old invoices are late."
    await add_note(tx, customer_id, text, now, promised_on=uk_date(now + _PAYS_IN))


async def keep_views(tx: Transaction, staff_id: int, now: datetime) -> None:
    """Share a member's views of lists."""
    for name, path, query in _VIEWS:
        await insert_view(tx, staff_id, name, path, query, shared=True, on_today=True, now=now)
