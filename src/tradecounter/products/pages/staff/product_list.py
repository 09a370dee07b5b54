"""`/product`: all products with their stock."""

from dataclasses import dataclass

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Column, TableParameters
from tradecounter.edge.page_kit.values import label
from tradecounter.edge.pages.listing import At, known, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.parts.back_office import OfficeParts
from tradecounter.products.find_products import list_products
from tradecounter.products.queries.product_list import SHOWN, ListedProduct, ProductFilter, Shown
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
    """The filters of the table, as those of `GET /api/product`."""

    query: str | None = None
    manufacturer: str | None = None
    show: Shown | None = None


@dataclass(frozen=True, slots=True)
class StockedProduct:
    """A row of the table."""

    product: ListedProduct
    level: StockLevel


def _file_row(row: StockedProduct) -> tuple[object, ...]:
    product, level = row.product, row.level
    active = "yes" if product.active else "no"
    units = (level.available, level.allocated, level.back_ordered)
    return (product.sku, product.name, product.manufacturer, product.ean, active, *units)


@dataclass(frozen=True, slots=True)
class ProductListPages:
    """The list of products."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/product",
        "Products",
        columns=_COLUMNS,
        sorts={"sku": str},
        default="sku",
        place=lambda row, _: (row.product.sku_key, 0),
        template="products/list.html",
        file="products",
        headings=("sku", "name", "manufacturer", "ean", "active", "available", "allocated", "back_ordered"),
        cells=_file_row,
        shown=lambda *_: known(choices=[(show, label(show)) for show in SHOWN]),
        scope="catalogue:read",
    )
    async def list_products(self, tx: Transaction, wanted: ProductTable, at: At) -> list[StockedProduct]:
        behind = "" if at["after"] is None else at["after"][0]
        memory = self.parts.contexts.views
        words = text("query", wanted.query) or ""
        chosen = ProductFilter(text("manufacturer", wanted.manufacturer) or None, wanted.show)
        products = await list_products(tx, memory, words, chosen, behind, wanted.most)
        levels = await stock_levels_of(tx, [product.sku_key for product in products])
        return [StockedProduct(product, levels.get(product.sku_key, _NO_STOCK)) for product in products]
