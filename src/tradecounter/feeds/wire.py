"""What a customer chooses of a feed."""

from decimal import Decimal
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from tradecounter.edge.rest.parameters import Flag
from tradecounter.feeds.rules import Rounding
from tradecounter.kit.numbers import Percent
from tradecounter.kit.wire import RequiredText, made_from
from tradecounter.storefront.find_in_view import ProductListParameters, Sort

_LONGEST = 500

Words = Annotated[str, Meta(max_length=_LONGEST)]


class FeedFilter(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which products, as the parameters of `GET /product` say. Lists are separated by commas."""

    manufacturer: Words | None = None
    category: Words | None = None
    query: Words | None = None
    attribute: Words | None = None
    reduced: Flag | None = None
    in_stock: Flag | None = None
    sort: Sort | None = None

    @property
    def parameters(self) -> ProductListParameters:
        """The same as parameters of `GET /product`."""
        lists: dict[str, Any] = {
            name: (value,)
            for name in ("manufacturer", "category", "attribute")
            if (value := getattr(self, name)) is not None
        }
        return ProductListParameters(
            **lists, query=self.query, reduced=self.reduced, in_stock=self.in_stock, sort=self.sort
        )


class FeedTerms(FeedFilter, frozen=True, kw_only=True):
    """A feed to make, or all that is chosen of one. `columns` has a column on each line, `markup` is in per cent."""

    name: RequiredText
    columns: str
    markup: Percent = Decimal(0)
    rounding: Rounding = "penny"
    vat_included: bool = False

    @property
    def filter(self) -> FeedFilter:
        """The part of it that says which products."""
        return made_from(self, FeedFilter)


def stored_filter(feed_filter: FeedFilter) -> dict[str, Any]:
    """Return a filter as the object that is stored."""
    members: dict[str, Any] = msgspec.to_builtins(feed_filter)
    return members


def filter_from(stored: dict[str, Any]) -> FeedFilter:
    """Return the filter of a stored object."""
    return msgspec.convert(stored, FeedFilter)
