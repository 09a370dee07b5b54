"""Invoices of all customers, and the VAT of invoices and credit notes, as tables: sorted by a column, page by page."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from operator import attrgetter
from typing import Literal, LiteralString

from msgspec import Struct
from msgspec.structs import replace
from psycopg.sql import SQL
from psycopg.sql import Literal as Quoted

from tradecounter.billing.queries.invoice_records import StatedInvoice
from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.sorted_rows import SortColumn, SortedTable
from tradecounter.db.statement import Statement, where
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.orders.queries.orders import NAMED_ORDERS

_NUMBER, _AMOUNT = SQL("bigint"), SQL("numeric")


class InvoiceRow(StatedInvoice, frozen=True, kw_only=True):
    """An invoice in a table, with its customer's name."""

    customer: str

    def days_late(self, now: datetime) -> int:
        """Return for how many days something has been overdue; 0 if nothing is."""
        return (uk_date(now) - uk_date(self.due_at)).days if self.due and self.due_at < now else 0


class InvoiceTableFilter(Struct, frozen=True, kw_only=True):
    """A filter of invoices; None matches all. `issued_to` is exclusive, `overdue_at` selects what is overdue then."""

    number: int | None = None
    customer_id: int | None = None
    order_reference: str | None = None
    issued_from: datetime | None = None
    issued_to: datetime | None = None
    unpaid: bool | None = None
    overdue_at: datetime | None = None


INVOICES: SortedTable[InvoiceRow] = SortedTable(
    # Balances are narrow rows with all that invoices are sorted by; invoices have documents.
    select=SQL("select b.* from invoice_balance b"),
    joined=lambda page: SQL("""
        select b.invoice as number, o.order_reference, b.customer_id, {name} as customer, i.issued_at, i.supplied_at,
               b.due_at, i.net, i.vat, b.gross, b.paid, b.credited, b.due
        from ({page}) as b join invoice i on i.number = b.invoice join orders o on o.id = b.order_id
        join customer c on c.id = b.customer_id
    """).format(name=CUSTOMER_NAME, page=page),
    row=InvoiceRow,
    conditions={
        "number": SQL("b.invoice = :number"),
        # The second part is an index of each customer's: of one with few, all balances would be read.
        "customer_id": SQL(
            "b.customer_id = :customer_id"
            " and b.invoice in (select number from invoice where customer_id = :customer_id)"
        ),
        "order_reference": SQL("b.order_id in {}").format(NAMED_ORDERS),
        "issued_from": SQL("i.issued_at >= :issued_from"),
        "issued_to": SQL("i.issued_at < :issued_to"),
        # the second part lets the planner use the index of what is unpaid
        "unpaid": SQL("(b.due > 0) = :unpaid::boolean and (b.due > 0 or not :unpaid::boolean)"),
        "overdue_at": SQL("b.due > 0 and b.due_at < :overdue_at"),
    },
    columns={
        "number": SortColumn(SQL("b.invoice"), _NUMBER, int, lambda row: row.number),
        "gross": SortColumn(SQL("b.gross"), _AMOUNT, Decimal, lambda row: row.gross),
        "due": SortColumn(SQL("b.due"), _AMOUNT, Decimal, lambda row: row.due),
        "due_on": SortColumn(SQL("b.due_at"), SQL("timestamptz"), datetime, lambda row: row.due_at),
    },
    key=SQL("b.invoice"),
    key_of=lambda row: row.number,
)
_ISSUED = replace(INVOICES, select=SQL("select b.* from invoice_balance b join invoice i on i.number = b.invoice"))


def invoices_for(wanted: InvoiceTableFilter) -> SortedTable[InvoiceRow]:
    """Return the table for a filter; only a table for moments of issue reads the invoices themselves."""
    return INVOICES if wanted.issued_from is None and wanted.issued_to is None else _ISSUED


class DueInAll(Struct, frozen=True):
    """The number of invoices that match a filter, and what is due of them."""

    invoices: int
    due: Decimal


async def due_in_all(tx: Transaction, wanted: InvoiceTableFilter) -> DueInAll:
    """Return how many invoices match a filter, and what is due of them."""
    table = invoices_for(wanted)
    conditions, values = where(wanted, table.conditions)
    sql = SQL("select count(*) as invoices, coalesce(sum(due), 0.00) as due from ({} where {}) as b").format(
        table.select, conditions
    )
    return await tx.fetch_row(Statement(sql, DueInAll), **values)


VatKind = Literal["invoice", "credit_note"]
BY_DAY = "day"


class VatSum(Struct, frozen=True):
    """The sum of documents of a kind in pounds, for deliveries inside or outside an area, at a rate in per cent."""

    kind: VatKind
    inside: bool
    rate: Decimal
    documents: int
    net: Decimal
    vat: Decimal


_SUMS = Statement(
    """
    select kind, country = any(:area::text[]) as inside, rate, sum(documents)::bigint as documents, sum(net) as net,
           sum(vat) as vat
    from vat_day where day between :since and :until
    group by 1, 2, 3 order by kind desc, inside desc, rate desc
    """,
    VatSum,
)


async def vat_sums(tx: Transaction, since: date, until: date, area: Iterable[str]) -> list[VatSum]:
    """Return the sums of the documents between two UK days, both included; those inside the area come first."""
    return await tx.fetch_all(_SUMS, since=since, until=until, area=list(area))


class VatDocument(Struct, frozen=True, kw_only=True):
    """An invoice, or a credit note with negative amounts, in pounds; `at` is the tax point or the time of issue."""

    kind: VatKind
    number: int
    order_reference: str
    customer_id: int
    customer: str
    at: datetime
    country: str
    rate: Decimal
    net: Decimal
    vat: Decimal

    @property
    def gross(self) -> Decimal:
        """The amount with VAT."""
        return self.net + self.vat


class VatDocumentFilter(Struct, frozen=True, kw_only=True):
    """A filter of documents; None matches all. `before` is exclusive; `inside` and `outside` are countries."""

    since: datetime | None = None
    before: datetime | None = None
    rate: Decimal | None = None
    inside: Sequence[str] | None = None
    outside: Sequence[str] | None = None


_SELECTED = SQL("""
    select {kind} as kind, d.number, o.order_reference, d.customer_id,
           {name} as customer, d.{at} as at,
           o.shipping_address ->> 'country_code' as country, o.tax_rate as rate, {sign}d.net as net, {sign}d.vat as vat
    from {documents} join customer c on c.id = d.customer_id
""")


def _documents(
    kind: VatKind, documents: LiteralString, at: LiteralString, sign: LiteralString
) -> SortedTable[VatDocument]:
    return SortedTable(
        select=_SELECTED.format(
            kind=Quoted(kind), name=CUSTOMER_NAME, documents=SQL(documents), at=SQL(at), sign=SQL(sign)
        ),
        row=VatDocument,
        conditions={
            "since": SQL(f"d.{at} >= :since"),
            "before": SQL(f"d.{at} < :before"),
            "rate": SQL("o.tax_rate = :rate"),
            "inside": SQL("o.shipping_address ->> 'country_code' = any(:inside::text[])"),
            # Deliveries abroad have no VAT: an index has the invoices without it.
            "outside": SQL("d.vat = 0 and o.shipping_address ->> 'country_code' <> all(:outside::text[])"),
        },
        columns={BY_DAY: SortColumn(SQL(f"d.{at}"), SQL("timestamptz"), datetime, attrgetter("at"))},
        key=SQL("d.number"),
        key_of=attrgetter("number"),
    )


VAT_DOCUMENTS: Mapping[VatKind, SortedTable[VatDocument]] = {
    "invoice": _documents("invoice", "invoice d join orders o on o.id = d.order_id", "supplied_at", ""),
    "credit_note": _documents(
        "credit_note",
        "credit_note d join invoice i on i.number = d.invoice join orders o on o.id = i.order_id",
        "issued_at",
        "-",
    ),
}
