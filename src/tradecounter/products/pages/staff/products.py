"""`/product`: the list of products; `/category` and `/manufacturer`: how many products each has."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from pyroaring import BitMap

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import text
from tradecounter.edge.page_kit.tables import Cells, Column, TableOrder, TableParameters
from tradecounter.edge.page_kit.values import label
from tradecounter.edge.pages.listing import Listing, RowsToRead, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import has_right, require_right
from tradecounter.kit.text import fold
from tradecounter.parts.back_office import OfficeParts
from tradecounter.prices.queries.prices_of_products import NO_PRICE, CostedPrice, costed_prices_of
from tradecounter.products.find_products import list_products, note_of_search
from tradecounter.products.on_pages import categories_in_tree
from tradecounter.products.queries.products import SHOWN, ProductFilter, ProductSummary, Shown
from tradecounter.products.queries.records import CategoryRecord, read_groups, read_pictured
from tradecounter.products.search.query import as_typed
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.products.wire import Category
from tradecounter.stock.queries.stock import StockLevel, stock_levels_of
from tradecounter.storefront.shown_product import look_of

_PRODUCT_COLUMNS = (
    Column("Product"),
    Column("State"),
    Column("Price", numeric=True),
    Column("10 and more", numeric=True),
    Column("Costs you", numeric=True),
    Column("Available", numeric=True),
    Column("Allocated", numeric=True),
    Column("Back-ordered", numeric=True),
)
_COUNTS = (Column("Key"), Column("Sold", numeric=True), Column("Not sold", numeric=True))
_AS_LISTED = TableOrder({"place": int}, "place", lambda row, _: (row.place, 0))
_GROUP_CELLS: Cells = {name: name for name in ("key", "name", "sold", "not_sold")}
_NO_STOCK = StockLevel()
_COSTS = "prices:write"  # what the reseller pays is for those who set prices
_PRODUCT_CELLS: Cells = {
    **{name: f"product.{name}" for name in ("sku", "name", "manufacturer", "ean")},
    "active": lambda row: "yes" if row.product.active else "no",
    "price": "price.single_unit_cost",
    "price_of_ten": "price.of_ten",
    "purchase_cost": "price.purchase_cost",
    **{name: f"level.{name}" for name in ("available", "allocated", "back_ordered")},
}
_NEEDS = {
    **dict.fromkeys(("Price", "10 and more", "price", "price_of_ten"), "prices:read"),
    **dict.fromkeys(("Costs you", "purchase_cost"), _COSTS),
}


def _choices(call: Call) -> list[tuple[Shown, str]]:
    return [(show, label(show)) for show in SHOWN if show != "below_cost" or has_right(call.request, _COSTS)]


def _category_choices(categories: Sequence[CategoryRecord], chosen: str | None) -> list[tuple[str, str]]:
    """Return the categories to choose from. A link may name one by its name or in other case, as the filter does.

    The one category that is chosen so has the value of the link; a name of several, or of none, is one more choice.
    """
    choices = categories_in_tree(categories)
    said = (chosen or "").strip().lower()
    if not chosen or not said or any(category.key == chosen for category in categories):
        return choices
    named = [category.key for category in categories if said in (category.key.lower(), category.name.lower())]
    if len(named) == 1:
        return [(chosen if key in named else key, name) for key, name in choices]
    return [(chosen, f"All named {chosen}" if named else chosen), *choices]


class ProductTable(TableParameters, frozen=True, kw_only=True):
    """The filters of the table, as those of `GET /api/product`."""

    query: str | None = None
    manufacturer: str | None = None
    category: str | None = None
    show: Shown | None = None
    external_id: str | None = None


class StockedProduct(Struct, frozen=True):
    """A row of the table."""

    product: ProductSummary
    level: StockLevel
    price: CostedPrice


class Group(Struct, frozen=True):
    """A category or a manufacturer, and how many products it has; `place` is its own in the list, from 0 on."""

    place: int
    key: str
    name: str
    sold: int
    not_sold: int


class ProductListPages(Struct, frozen=True):
    """The lists of products, of categories and of manufacturers."""

    desk: PageDesk
    parts: OfficeParts

    async def _values(self, call: Call, listing: Listing[ProductTable, StockedProduct]) -> dict[str, Any]:
        """Return what the page has and the file has not.

        The pictures, the names of manufacturers, the choices of the filters, and how the words of the search were read,
        with the search as typed.
        """
        words = listing.wanted.query or ""
        note = await note_of_search(self.parts.views, words)
        async with self.desk.reading() as tx:
            categories, manufacturers = await read_groups(tx)
            pictured = await read_pictured(tx, [row.product.sku_key for row in listing.rows])
        names = {category.key: category.name for category in categories}
        return {
            "looks": {key: look_of(each, names) for key, each in pictured.items()},
            "choices": _choices(call),
            "manufacturers": {manufacturer.key: manufacturer.name for manufacturer in manufacturers},
            "category_choices": _category_choices(categories, listing.wanted.category),
            "note": note,
            "typed": as_typed(words),
        }

    @table_page(
        "/product",
        "Products",
        columns=_PRODUCT_COLUMNS,
        order=TableOrder({"sku": str}, "sku", lambda row, _: (row.product.sku_key, 0)),
        template="products/list.html",
        file="products",
        cells=_PRODUCT_CELLS,
        needs=_NEEDS,
        values=_values,
        scope="catalogue:read",
    )
    async def list_products(
        self, tx: Transaction, call: Call, wanted: ProductTable, at: RowsToRead
    ) -> list[StockedProduct]:
        if wanted.show == "below_cost":
            require_right(call.request, _COSTS)
        after = "" if at["after"] is None else at["after"][0]
        words = text("query", wanted.query) or ""
        product_filter = ProductFilter(
            show=wanted.show,
            manufacturer=text("manufacturer", wanted.manufacturer) or None,
            external_id=text("external_id", wanted.external_id) or None,
            category=text("category", wanted.category) or None,
        )
        products = await list_products(tx, self.parts.views, words, product_filter, after, wanted.most)
        keys = [product.sku_key for product in products]
        levels = await stock_levels_of(tx, keys)
        prices = await costed_prices_of(tx, "default", keys) if has_right(call.request, "prices:read") else {}
        return [
            StockedProduct(each, levels.get(each.sku_key, _NO_STOCK), prices.get(each.sku_key, NO_PRICE))
            for each in products
        ]

    @table_page(
        "/category",
        "Categories",
        columns=(Column("Category"), *_COUNTS),
        order=_AS_LISTED,
        template="products/groups.html",
        file="categories",
        cells=_GROUP_CELLS,
        values={"one": "category", "several": "categories"},
        scope="catalogue:read",
    )
    async def list_categories(self, at: RowsToRead) -> list[Group]:
        catalogue = await self.parts.views.snapshot()
        return _groups(catalogue, _tree_by_position(catalogue.category_tree), catalogue.categories, at)

    @table_page(
        "/manufacturer",
        "Manufacturers",
        columns=(Column("Manufacturer"), *_COUNTS),
        order=_AS_LISTED,
        template="products/groups.html",
        file="manufacturers",
        cells=_GROUP_CELLS,
        values={"one": "manufacturer", "several": "manufacturers"},
        scope="catalogue:read",
    )
    async def list_manufacturers(self, at: RowsToRead) -> list[Group]:
        catalogue = await self.parts.views.snapshot()
        named = [(each.key, each.name) for each in catalogue.manufacturer_list]
        return _groups(catalogue, named, catalogue.manufacturers, at)


def _tree_by_position(categories: Iterable[Category], above: str = "") -> Iterator[tuple[str, str]]:
    """Return the keys and the names of categories, each below its parent, whose name is before its own."""
    for category in categories:
        yield category.key, f"{above}{category.name}"
        yield from _tree_by_position(category.children or (), f"{category.name}: ")


def _groups(
    catalogue: CatalogueSnapshot, named: Iterable[tuple[str, str]], rows_of: Mapping[str, BitMap], at: RowsToRead
) -> list[Group]:
    first = 0 if at["after"] is None else at["after"][0] + 1
    groups = []
    for place, (key, name) in list(enumerate(named))[first : first + at["most"]]:
        rows = rows_of.get(fold(key), BitMap())
        sold = len(rows & catalogue.active)
        groups.append(Group(place=place, key=key, name=name, sold=sold, not_sold=len(rows) - sold))
    return groups
