"""Reads and writes contacts and notes of customers, and the timeline of one."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class Contact(Struct, frozen=True):
    """A person at a customer, with its id; what is unknown is empty. `task` is what to speak to the person about."""

    id: int
    name: str
    task: str
    email: str
    phone: str

    @property
    def details(self) -> dict[str, str]:
        """All but the id."""
        return {"name": self.name, "task": self.task, "email": self.email, "phone": self.phone}


class Happening(Struct, frozen=True):
    """An event about a customer (`kind` is its type), or a note; `kind` and `id` together are unique.

    `subject` is an event's object, `name` what people call it, and `data` the rest as JSON text. `text`, `promised_on`
    and `by` are those of a note.
    """

    at: datetime
    rank: int
    id: int
    kind: str
    subject: str
    name: str
    text: str
    promised_on: date | None
    by: str
    data: str

    @property
    def audited_as(self) -> list[str]:
        """The subjects under which the audit log may have who did it."""
        kind = self.subject.partition("/")[0]
        return [self.subject, f"{kind}/{self.name}", f"quote/{self.name}"]


_CONTACTS = Statement(
    "select id, name, task, email, phone from customer_contact where customer_id = :customer_id"
    " and (:changed_since::timestamptz is null or changed_at >= :changed_since) order by name, id",
    Contact,
)
_ADD_CONTACT = Statement(
    """
    insert into customer_contact (customer_id, name, task, email, phone)
    values (:customer_id, :name, :task, :email, :phone) returning id, name, task, email, phone
    """,
    Contact,
)
_CHANGE_CONTACT = Statement(
    """
    update customer_contact set name = :name, task = :task, email = :email, phone = :phone where id = :id
    returning id, name, task, email, phone
    """,
    Contact,
)
_REMOVE_CONTACT = Statement("delete from customer_contact where id = :id")
_ADD_NOTE = Statement("""
    insert into customer_note (customer_id, text, promised_on, written_by, written_at)
    values (:customer_id, :text, :promised_on, :written_by, :now)
""")
_PROMISES = Statement("""
    select customer_id, promised_on from (
        select distinct on (customer_id) customer_id, promised_on, written_at from customer_note
        where customer_id = any(:customer_ids::bigint[]) and promised_on is not null
        order by customer_id, id desc
    ) as latest
    where exists (
        select from invoice_balance b join invoice i on i.number = b.invoice
        where b.customer_id = latest.customer_id and b.due > 0 and i.issued_at <= latest.written_at
    )
""")
# Changes of prices and stock are about products, and far too many: the index `event_in_timeline` has none of them.
_TIMELINE = Statement(
    """
    select * from (
        (select occurred_at as at, 0 as rank, sequence as id, type as kind, subject,
                coalesce(data ->> 'order_reference', data ->> 'confirmation_code', split_part(subject, '/', 2)) as name,
                '' as text, null::date as promised_on, '' as by, data::text as data
         from event
         where customer_id = :customer_id and type not in ('price.changed', 'stock.changed')
           and occurred_at <= :at::timestamptz
           and (occurred_at, 0, sequence) < (:at::timestamptz, :rank::integer, :id::bigint)
         order by occurred_at desc, sequence desc limit :most)
        union all
        (select written_at, 1, id, 'note', '', '', text, promised_on, written_by, '{}'
         from customer_note
         where customer_id = :customer_id
           and (written_at, 1, id) < (:at::timestamptz, :rank::integer, :id::bigint)
         order by written_at desc, id desc limit :most)
    ) as happening
    order by at desc, rank desc, id desc limit :most
    """,
    Happening,
)
_LATEST = ("infinity", 0, 0)


async def contacts_of(tx: Transaction, customer_id: int, changed_since: datetime | None = None) -> list[Contact]:
    """Return a customer's contacts by name."""
    return await tx.fetch_all(_CONTACTS, customer_id=customer_id, changed_since=changed_since)


async def insert_contact(tx: Transaction, customer_id: int, details: Mapping[str, str]) -> Contact:
    """Store a new contact, with all but its id by name; return it."""
    return await tx.fetch_row(_ADD_CONTACT, customer_id=customer_id, **details)


async def store_contact(tx: Transaction, contact_id: int, details: Mapping[str, str]) -> Contact:
    """Store what a contact is now, with all but its id by name; return it."""
    return await tx.fetch_row(_CHANGE_CONTACT, id=contact_id, **details)


async def delete_contact(tx: Transaction, contact_id: int) -> None:
    """Delete a contact."""
    await tx.execute(_REMOVE_CONTACT, id=contact_id)


async def insert_note(
    tx: Transaction, customer_id: int, text: str, promised_on: date | None, written_by: str, now: datetime
) -> None:
    """Store a note."""
    await tx.execute(
        _ADD_NOTE, customer_id=customer_id, text=text, promised_on=promised_on, written_by=written_by, now=now
    )


async def promises_of(tx: Transaction, customer_ids: Sequence[int]) -> dict[int, date]:
    """Return the day of each customer's latest promise to pay.

    A customer without one is missing; so is one that has paid all the invoices of before its promise.
    """
    return dict(await tx.fetch_all(_PROMISES, customer_ids=list(customer_ids)))


async def timeline_of(
    tx: Transaction, customer_id: int, most: int, before: tuple[datetime, int, int] | None = None
) -> list[Happening]:
    """Return events about a customer and notes, latest first, before a moment, a rank and an id."""
    at, rank, last = before or _LATEST
    return await tx.fetch_all(_TIMELINE, customer_id=customer_id, most=most, at=at, rank=rank, id=last)
