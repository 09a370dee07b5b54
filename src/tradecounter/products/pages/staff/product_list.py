"""`/product`: all products with their stock."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text
from tradecounter.edge.pages.listing import After, listed
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts
from tradecounter.products.queries.by_sku import ListedProduct, products_after
from tradecounter.stock.queries.stock_of_product import StockLevel, stock_levels_of

_COLUMNS = (
    Column("Product"),
    Column("Manufacturer"),
    Column("EAN"),
    Column("State"),
    Column("Available", numeric=True),
    Column("Allocated", numeric=True),
    Column("Back-ordered", numeric=True),
)
_NO_STOCK = StockLevel()


class ProductTable(TableParameters, frozen=True, kw_only=True):
    """The filter of the table."""

    query: str | None = None


@dataclass(frozen=True, slots=True)
class StockedProduct:
    """A row of the table."""

    product: ListedProduct
    level: StockLevel


@dataclass(frozen=True, slots=True)
class ProductListPages:
    """The list of products."""

    desk: PageDesk
    parts: OfficeParts

    @page("/product", "Products", scope="catalogue:read", query=ProductTable)
    async def list_products(self, call: Call) -> Response:
        async def find(wanted: ProductTable, _sort: Sort, after: After) -> list[StockedProduct]:
            query = text("query", wanted.query) or ""
            async with self.desk.reading() as tx:
                products = await products_after(tx, query, "" if after is None else after[0], wanted.most)
                levels = await stock_levels_of(tx, [product.sku_key for product in products])
            return [StockedProduct(product, levels.get(product.sku_key, _NO_STOCK)) for product in products]

        found = await listed(call, ProductTable, {"sku": str}, "sku", find)
        if found.is_file:
            headings = ("sku", "name", "manufacturer", "ean", "active", "available", "allocated", "back_ordered")
            return csv_file("products", headings, map(_file_row, found.rows))
        address = self.desk.view(call).at("/product")
        table = Table.of(
            call, address, _COLUMNS, found.rows, found.sort, lambda row: cursor_text(row.product.sku_key, 0)
        )
        return self.desk.show(call, "products/list.html", form=found.form, table=table)


def _file_row(row: StockedProduct) -> tuple[object, ...]:
    product, level = row.product, row.level
    active = "yes" if product.active else "no"
    units = (level.available, level.allocated, level.back_ordered)
    return (product.sku, product.name, product.manufacturer, product.ean, active, *units)
