"""`/customer/{id}/price`: a customer's contract prices, and why a product costs it what it does."""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.forms import Filled, query_values
from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text, read_cursor
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.local_time import uk_date
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown_customer import shown_customer
from tradecounter.prices.explain_price import ExplainedPrice, price_of
from tradecounter.prices.queries.contract_table import ContractRow, contract_table

_COLUMNS = (
    Column("Product"),
    Column("From"),
    Column("Until"),
    Column("State"),
    Column("1 and more", numeric=True),
    Column("5 and more", numeric=True),
    Column("10 and more", numeric=True),
)
_BY_SKU = Sort("sku", descending=False)
_ASKED = {"sku", "quantity"}


class PriceTable(TableParameters, frozen=True, kw_only=True):
    """The filter of contract prices, and the product whose price is explained."""

    query: str | None = None
    sku: str | None = None
    quantity: Annotated[int, Meta(ge=1, le=MOST_UNITS)] = 1


class CustomerPricePages(Struct, frozen=True):
    """A customer's prices."""

    desk: PageDesk
    parts: OfficeParts

    @page("/customer/{id}/price", "A customer's prices", scope="customers:read", query=PriceTable)
    async def show_prices(self, call: Call) -> Response:
        filled, wanted, price = Filled({"quantity": ["1"], **query_values(call.raw_query)}), PriceTable(), None
        try:
            wanted = call.query(PriceTable)
            price = await self._explained(call, wanted)
        except DomainError as error:
            filled = filled.with_error(error, Kind.NOT_FOUND)
        now = self.desk.clock.now()
        after = read_cursor(wanted.after, tuple[str, int])
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            query = text("query", wanted.query) or ""
            found = await contract_table(tx, shown.id, query, wanted.most, None if after is None else after[0])
        if wanted.is_file:
            headings = ("customer_id", "sku", *_FILE_FIELDS)
            return csv_file(f"customer-{shown.id}-contract-prices", headings, (_file_row(shown.id, r) for r in found))
        address = self.desk.view(call).at(f"{shown.path}/price")
        table = Table.of(call, address, _COLUMNS, found, _BY_SKU, lambda row: cursor_text((row.sku_key, row.id), 0))
        filters = {name: values for name, values in table.query.items() if name not in _ASKED}
        table = replace(table, query=filters)  # the price that is explained leaves no contract prices out
        return self.desk.show(
            call, "customers/prices.html", form=filled, shown=shown, table=table, price=price, today=uk_date(now)
        )

    async def _explained(self, call: Call, wanted: PriceTable) -> ExplainedPrice | None:
        sku = text("sku", wanted.sku)
        if not sku:
            return None
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            return await price_of(tx, shown.id, sku, wanted.quantity, self.desk.clock.now())


# The columns of an import file of contract prices, so that the file can be changed and imported.
_FILE_FIELDS = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost", "valid_from", "valid_until")


def _file_row(customer_id: int, row: ContractRow) -> tuple[object, ...]:
    return (customer_id, row.sku, *(getattr(row, name) for name in _FILE_FIELDS))
