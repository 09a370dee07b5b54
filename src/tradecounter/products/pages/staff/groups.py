"""`/category` and `/manufacturer`: all of them, with the numbers of their products."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from pyroaring import BitMap

from tradecounter.edge.page_kit.tables import Cells, Column, Order
from tradecounter.edge.pages.listing import At, known, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.kit.text import fold
from tradecounter.parts.back_office import OfficeParts
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.products.wire import Category

_COUNTS = (Column("Key"), Column("Sold", numeric=True), Column("Not sold", numeric=True))
_AS_LISTED = Order({"place": int}, "place", lambda row, _: (row.place, 0))
_CELLS: Cells = {name: name for name in ("key", "name", "sold", "not_sold")}


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
        cells=_CELLS,
        shown=lambda *_: known(one="category", several="categories", title="Categories", heading="Category"),
        scope="catalogue:read",
    )
    async def list_categories(self, at: At) -> list[Group]:
        catalogue = await self.parts.views.snapshot()
        return _page(catalogue, _in_tree(catalogue.category_tree), catalogue.categories, at)

    @table_page(
        "/manufacturer",
        "Manufacturers",
        columns=(Column("Manufacturer"), *_COUNTS),
        order=_AS_LISTED,
        template="products/groups.html",
        file="manufacturers",
        cells=_CELLS,
        shown=lambda *_: known(
            one="manufacturer", several="manufacturers", title="Manufacturers", heading="Manufacturer"
        ),
        scope="catalogue:read",
    )
    async def list_manufacturers(self, at: At) -> list[Group]:
        catalogue = await self.parts.views.snapshot()
        named = [(each.key, each.name) for each in catalogue.manufacturer_list]
        return _page(catalogue, named, catalogue.manufacturers, at)


def _in_tree(categories: Iterable[Category], above: str = "") -> Iterator[tuple[str, str]]:
    """Return the keys and the names of categories, each below its parent, whose name is before its own."""
    for each in categories:
        yield each.key, f"{above}{each.name}"
        yield from _in_tree(each.children or (), f"{each.name}: ")


def _page(
    catalogue: CatalogueSnapshot, named: Iterable[tuple[str, str]], rows_of: Mapping[str, BitMap], at: At
) -> list[Group]:
    first = 0 if at["after"] is None else at["after"][0] + 1
    found = []
    for place, (key, name) in list(enumerate(named))[first : first + at["most"]]:
        rows = rows_of.get(fold(key), BitMap())
        sold = len(rows & catalogue.active)
        found.append(Group(place, key, name, sold, len(rows) - sold))
    return found
