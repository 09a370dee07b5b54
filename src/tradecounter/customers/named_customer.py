"""Finds the one customer that a text names, for fields in which people type a number, a name or an e-mail address."""

from tradecounter.customers.queries.find_customers import FoundCustomer, find_customers
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.kit.numbers import read_id

MOST_FOUND = 10
_LONGEST = 100
_MOST_NAMED = 3


async def found_customers(tx: Transaction, text: str, most: int = MOST_FOUND) -> list[FoundCustomer]:
    """Return whom a text may mean: the one customer that it names exactly, else those that `find_customers` finds."""
    customers = await find_customers(tx, text.strip().replace("\x00", "")[:_LONGEST], most)
    exact = [customer for customer in customers if customer.exact]
    return exact if len(exact) == 1 else customers


async def named_customer(tx: Transaction, field: str, text: str | None) -> int | None:
    """Return the id of the customer that the text of a field names; None for an empty text.

    A number is returned as it is, whether or not there is such a customer. Raises DomainError (invalid) for none and
    for several, whom it names.
    """
    text = (text or "").strip()
    if not text:
        return None
    number = read_id(text)
    if number is not None:
        return number
    customers = await found_customers(tx, text)
    if not customers:
        raise invalid(field, f"no customer has {text[:40]!r} in the name or the e-mail address")
    if len(customers) > 1:
        names = ", ".join(f"{customer.name} ({customer.id})" for customer in customers[:_MOST_NAMED])
        more = " and more" if len(customers) > _MOST_NAMED else ""
        raise invalid(field, f"several customers match: {names}{more}")
    return customers[0].id
