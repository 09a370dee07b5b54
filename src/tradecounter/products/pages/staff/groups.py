"""`/category` and `/manufacturer`: how many products each has."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from pyroaring import BitMap

from tradecounter.edge.page_kit.tables import Cells, Column, TableOrder
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.kit.text import fold
from tradecounter.parts.back_office import OfficeParts
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.products.wire import Category

_COUNTS = (Column("Key"), Column("Sold", numeric=True), Column("Not sold", numeric=True))
_AS_LISTED = TableOrder({"place": int}, "place", lambda row, _: (row.place, 0))
_GROUP_CELLS: Cells = {name: name for name in ("key", "name", "sold", "not_sold")}


class Group(Struct, frozen=True):
    """A category or a manufacturer, and how many products it has; `place` is its own in the list, from 0 on."""

    place: int
    key: str
    name: str
    sold: int
    not_sold: int


class GroupPages(Struct, frozen=True):
    """The lists of categories and of manufacturers."""

    desk: PageDesk
    parts: OfficeParts

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
