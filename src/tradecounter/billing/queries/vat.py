"""The VAT of invoices and credit notes: the sums of days, which triggers keep, and the documents behind them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from operator import attrgetter
from typing import Literal, LiteralString

from msgspec import Struct
from psycopg.sql import SQL
from psycopg.sql import Literal as Quoted

from tradecounter.customers.queries.accounts import CUSTOMER_NAME
from tradecounter.db.sorted_rows import SortColumn, SortedTable
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

VatKind = Literal["invoice", "credit_note"]
BY_DAY = "day"


class VatSum(Struct, frozen=True):
    """What documents of a kind come to in pounds: of deliveries inside an area or outside, at a rate in per cent."""

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
    """An invoice, or a credit note with negative amounts, in pounds; `at` is its tax point, or when it was issued."""

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
