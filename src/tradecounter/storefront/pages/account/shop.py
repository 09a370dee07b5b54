"""`/account/product`: the catalogue at the customer's prices; `/account/product/{sku}`: one product."""

from collections.abc import Sequence

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.page_kit.forms import Filled, Submitted, query_values
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.people import BUYER
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import TEXT, Parameter
from tradecounter.edge.rest.responses import STATUS
from tradecounter.kit.errors import DomainError, Kind, not_found
from tradecounter.kit.numbers import count_or_nothing
from tradecounter.orders.queries.lines import last_bought
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.parts.account import AccountParts
from tradecounter.storefront.drawings import kind_of
from tradecounter.storefront.facets import Shelf, ShopParameters
from tradecounter.storefront.pages.account.addresses import ShopAddresses
from tradecounter.storefront.shown_product import ShownLine, shown_products, shown_skus
from tradecounter.storefront.view import CustomerView

PATH = "/account/product"
_ON_A_PAGE = 24
_MOST_RELATED = 12
_SORTS = (("name", "Name"), ("price", "Price, lowest first"), ("availability", "Most in stock"), ("sku", "SKU"))
_SKU = Parameter("sku", "The product's SKU, percent-encoded.", TEXT, "CV-320P", takes_slashes=True)


class WantedUnits(Struct, frozen=True):
    """For how many units a product's page says the price; 1 for texts that are no such number."""

    quantity: str = "1"


class PageOf(Struct, frozen=True):
    """Which of the products a page shows; numbers count from 1."""

    number: int
    total: int

    @classmethod
    def of(cls, wanted: int | None, total: int) -> "PageOf":
        """Return the page that is wanted, or the last one."""
        return cls(min(wanted or 1, max(1, -(-total // _ON_A_PAGE))), total)

    @property
    def rows(self) -> slice:
        """The places of its products."""
        return slice((self.number - 1) * _ON_A_PAGE, self.number * _ON_A_PAGE)

    @property
    def last(self) -> int:
        """The number of the last page."""
        return max(1, -(-self.total // _ON_A_PAGE))


class ShopPages(Struct, frozen=True):
    """The catalogue and its products."""

    desk: PageDesk
    parts: AccountParts

    @page(PATH, "Products", user_roles=BUYER, query=ShopParameters)
    async def show_catalogue(self, call: Call) -> Response:
        view = await self.parts.views.of(call.customer_id)
        filled = Filled(query_values(call.raw_query))
        shelf = Shelf(view, ShopParameters())
        try:
            wanted = call.query(ShopParameters)
            asked = Shelf(view, wanted)
            _ = asked.found  # finds what is wrong with the filters
            shelf = asked
        except DomainError as error:
            if error.kind is not Kind.INVALID:
                raise
            filled = Filled.of(Submitted(filled.values), error, STATUS[error.kind])
        place = PageOf.of(shelf.wanted.page, len(shelf.found))
        is_start = not any(value for values in filled.values.values() for value in values)
        return self.desk.show(
            call,
            "storefront/catalogue.html",
            form=filled,
            shelf=shelf,
            products=shown_products(view, shelf.found[place.rows].tolist()),
            place=place,
            sorts=_SORTS,
            addresses=ShopAddresses(self.desk.view(call).at(PATH), shelf.wanted),
            is_start=is_start,
            kind_of=kind_of,
        )

    @page(PATH + "/{sku}", "One product", user_roles=BUYER, path_parameters=(_SKU,), query=WantedUnits)
    async def show_product(self, call: Call) -> Response:
        view = await self.parts.views.of(call.customer_id)
        sku = call.path_text("sku", "product")
        shown = shown_skus(view, [sku])
        if not shown:
            raise not_found("product", sku)
        product = shown[0]
        units = count_or_nothing(call.query(WantedUnits).quantity, MOST_UNITS) or 1
        async with self.desk.reading() as tx:
            bought = await last_bought(tx, call.customer_id, product.record.id)
        return self.desk.show(
            call,
            "storefront/product.html",
            product=product,
            line=ShownLine(product, units),
            bought=bought,
            groups=[
                ("Goes with it", _few(view, product.record.related_products)),
                ("Similar products", _few(view, product.record.similar_products)),
            ],
        )


def _few(view: CustomerView, skus: Sequence[str]) -> list[object]:
    return list(shown_skus(view, skus[:_MOST_RELATED]))
