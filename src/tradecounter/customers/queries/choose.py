"""Finds the customers that a text may mean."""

from dataclasses import dataclass

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold


@dataclass(frozen=True, slots=True)
class CustomerChoice:
    """A customer that fits a text."""

    id: int
    name: str
    contact: str
    email_address: str
    blocked: bool


_CHOICES = Statement(
    """
    select id, coalesce(nullif(company, ''), first_name || ' ' || last_name) as name,
           first_name || ' ' || last_name as contact, email_address, blocked_at is not null as blocked
    from customer
    where id::text = :text or position(:text in lower(company || ' ' || first_name || ' ' || last_name)) > 0
       or position(:text in email_key) > 0
    order by id::text = :text desc, lower(coalesce(nullif(company, ''), last_name)), id limit :most
    """,
    CustomerChoice,
)


async def customers_for(tx: Transaction, text: str, most: int) -> list[CustomerChoice]:
    """Return customers with an id, or with a text in their company, name or e-mail address; the id's first."""
    return await tx.fetch_all(_CHOICES, text=fold(text.strip()), most=most)
