"""Finds customers by what people type."""

from dataclasses import dataclass

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold


@dataclass(frozen=True, slots=True)
class FoundCustomer:
    """A customer; `exact` means that the number, an e-mail address or the whole name matches."""

    id: int
    name: str
    email_address: str
    exact: bool


_FIND = Statement(
    """
    with named as (
        select id, coalesce(nullif(company, ''), first_name || ' ' || last_name) as name, email_address,
               lower(company || ' ' || first_name || ' ' || last_name) as names,
               id::text = :text or email_key = :key
               or id in (select customer_id from customer_user where email_key = :key) as exact
        from customer
    )
    select id, name, email_address, exact or lower(name) = :key as exact from named
    where exact or :key <> '' and (position(:key in names) > 0 or position(:key in lower(email_address)) > 0)
    order by exact or lower(name) = :key desc, name, id limit :most
    """,
    FoundCustomer,
)


async def find_customers(tx: Transaction, text: str, most: int) -> list[FoundCustomer]:
    """Return customers by number, part of the name or the e-mail address, or by a user's e-mail address."""
    return await tx.fetch_all(_FIND, text=text, key=fold(text), most=most)
