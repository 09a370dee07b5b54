"""Counts what a customer's catalogue can be narrowed to: the facets of the shop, and the ranges of prices."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.kit.columns.lookups import rows_of
from tradecounter.kit.errors import invalid
from tradecounter.kit.keys import key_form
from tradecounter.products.snapshot.attribute_index import as_number
from tradecounter.products.wire import Category, ProductAttribute
from tradecounter.storefront.find_in_view import FoundProducts, ProductListParameters, find_products, matching
from tradecounter.storefront.view import CustomerView

_PRICE_RANGE = re.compile(r"(?P<least>[0-9]{1,7})-(?P<below>[0-9]{0,7})")
_PRICE_STEPS = (0, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)


class PriceRange(Struct, frozen=True):
    """Net unit costs from so many pounds to less than so many; without an end if `below` is None."""

    least: int
    below: int | None

    @property
    def text(self) -> str:
        """The range as a parameter."""
        return f"{self.least}-{'' if self.below is None else self.below}"

    @property
    def name(self) -> str:
        """The range for people."""
        if self.below is None:
            return f"£{self.least:,} and more"
        return f"£{self.least:,} to £{self.below:,}" if self.least else f"Below £{self.below:,}"

    def includes(self, pence: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return for each of some costs whether it is in the range."""
        from_here = pence >= self.least * 100
        return from_here if self.below is None else from_here & (pence < self.below * 100)


PRICE_RANGES = (
    *(PriceRange(least, below) for least, below in pairwise(_PRICE_STEPS)),
    PriceRange(_PRICE_STEPS[-1], None),
)


def read_ranges(texts: Iterable[str]) -> list[PriceRange]:
    """Return the ranges that texts such as `20-50` and `5000-` name. Raises DomainError (invalid)."""
    ranges = []
    for text in texts:
        match = _PRICE_RANGE.fullmatch(text)
        if match is None:
            raise invalid("price", f"{text[:40]!r} is not a range of pounds, such as 20-50")
        ranges.append(PriceRange(int(match["least"]), int(match["below"]) if match["below"] else None))
    return ranges


_MOST_FILTERS = 100
_MOST_ATTRIBUTES = 8
_SAMPLED_ROWS = 200  # products whose attributes are counted
_RARE_FROM = 6  # an attribute is a facet only if more than one in this many of them has it


class ShopParameters(ProductListParameters, rename={"in_stock": "inStock"}, frozen=True):
    """The filters of the shop: those of `GET /product`, and ranges of the price of one unit, such as `20-50`.

    The counts of a facet ignore its own filter, so that more of its values can be chosen: with Black chosen as the
    colour, White still says how many there are.
    """

    price: tuple[str, ...] = ()


class Choice(Struct, frozen=True):
    """A value that the filter `parameter` of the address can have, and how many products it leaves."""

    parameter: str
    value: str
    name: str
    count: int
    is_chosen: bool


class Facet(Struct, frozen=True):
    """Choices that belong together."""

    title: str
    choices: Sequence[Choice]


class CategoryChoice(Struct, frozen=True):
    """A category, how many products it would leave, and its children, if it is the chosen one or has it."""

    key: str
    name: str
    count: int
    is_chosen: bool
    children: Sequence["CategoryChoice"] = ()


@dataclass(frozen=True)
class Shelf:
    """The products that filters find for a customer, and what they can be narrowed to.

    Raises DomainError (invalid) for filters that contradict each other or name what is no attribute or range.
    """

    view: CustomerView
    wanted: ShopParameters

    @cached_property
    def found(self) -> FoundProducts:
        """The products, in the requested order."""
        wanted = self.wanted
        if sum(map(len, (wanted.category, wanted.manufacturer, wanted.attribute, wanted.price))) > _MOST_FILTERS:
            raise invalid("attribute", f"there are more than {_MOST_FILTERS} filters: leave some out")
        return find_products(self.view, self.wanted, self._in_price_ranges)

    @cached_property
    def _in_price_ranges(self) -> BitMap | None:
        """The rows whose price is in a chosen range; None if none is chosen."""
        ranges = read_ranges(self.wanted.price)
        if not ranges:
            return None
        rows = rows_of(self.view.visible)
        costs = self.view.prices.single_costs(rows)
        return BitMap.union(BitMap(), *(BitMap(rows[each.includes(costs)]) for each in ranges))

    @cached_property
    def categories(self) -> list[CategoryChoice]:
        """The categories that have products, with the children of the chosen one."""
        rows = self._without(category=())
        chosen = {key_form(name) for name in self.wanted.category}
        choices = [self._category(top, rows, chosen) for top in self.view.snapshot.category_tree]
        return [choice for choice in choices if choice.count or choice.is_chosen]

    @property
    def chosen_categories(self) -> list[CategoryChoice]:
        """The categories that are chosen, parents and children."""
        return [each for top in self.categories for each in (top, *top.children) if each.is_chosen]

    def _category(self, category: Category, rows: BitMap, chosen: set[str]) -> CategoryChoice:
        inside = [self._category(child, rows, chosen) for child in category.children or ()]
        is_chosen = bool(chosen & {key_form(category.key), key_form(category.name)})
        is_open = is_chosen or any(child.is_chosen for child in inside)
        count = len(rows & self.view.snapshot.categories.get(key_form(category.key), BitMap()))
        children = [child for child in inside if child.count or child.is_chosen] if is_open else ()
        return CategoryChoice(category.key, category.name, count, is_chosen=is_chosen, children=children)

    @cached_property
    def chosen(self) -> list[Choice]:
        """The filters that are set, but for words and category; their names say what they are of."""
        wanted, manufacturers = self.wanted, {each.key: each.name for each in self.view.snapshot.manufacturer_list}
        named = [
            *([("inStock", "true", "In stock")] if wanted.in_stock == "true" else []),
            *(
                (name, flag, "Reduced" if flag == "true" else "Not reduced")
                for name, flag in (("reduced", wanted.reduced), ("clearance", wanted.clearance))
                if flag
            ),
            *(("sku", sku, sku) for sku in wanted.sku),
            *(("manufacturer", key, manufacturers.get(key, key)) for key in wanted.manufacturer),
            *(("price", text, each.name) for text, each in zip(wanted.price, read_ranges(wanted.price), strict=True)),
            *(("attribute", text, self._attribute_in_words(text)) for text in wanted.attribute),
        ]
        return [Choice(*each, len(self.found), is_chosen=True) for each in named]

    @property
    def kept(self) -> list[Choice]:
        """The filters in use that have no box, such as `ports>=24`.

        `reduced=false` is left out where the page has a box for reduced products: ticked, it would contradict it.
        """
        boxes = {choice.parameter for facet in self.facets for choice in facet.choices}
        offered = {
            (choice.parameter, key_form(choice.value))
            for facet in self.facets
            for choice in facet.choices
            if choice.is_chosen
        }
        return [
            each
            for each in self.chosen
            if (sent := self._offered_as(each)) not in offered and not (sent[0] == "reduced" and "reduced" in boxes)
        ]

    def _offered_as(self, choice: Choice) -> tuple[str, str]:
        """Return the parameter and the folded value that a choice of a facet has for a filter."""
        match choice.parameter:
            case "clearance":
                return "reduced", choice.value
            case "price":
                return "price", read_ranges([choice.value])[0].text
            case "attribute":
                of = next((each for each in self.view.snapshot.attribute_list if _is_of(each, choice.value)), None)
                value = choice.value.partition("=")[2].strip()
                return "attribute", key_form(choice.value if of is None else f"{of.key}={value}")
            case parameter:
                return parameter, key_form(choice.value)

    def _attribute_in_words(self, text: str) -> str:
        """Return a filter by an attribute for people: `colour=Black` is Colour: Black."""
        for attribute in self.view.snapshot.attribute_list:
            if _is_of(attribute, text):
                return f"{attribute.name}: {_value_name(attribute, text.partition('=')[2])}"
        return text

    @cached_property
    def facets(self) -> list[Facet]:
        """The filters that have a chosen value, or a value that some of the found products lack."""
        of_attributes = map(self._attribute, self._common_attributes())
        return [
            facet
            for facet in (self._flags(), self._manufacturers(), self._prices(), *of_attributes)
            if any(choice.is_chosen or choice.count < len(self.found) for choice in facet.choices)
        ]

    def _without(self, **changes: Any) -> BitMap:
        """Return the rows that are found with some filters changed, but the same words."""
        wanted = replace(self.wanted, **changes)
        rows = matching(self.view, wanted)
        if self.found.searched is not None:
            rows &= self.found.searched
        if wanted.price and self._in_price_ranges is not None:
            rows &= self._in_price_ranges
        return rows

    def _flags(self) -> Facet:
        in_stock = self._without(in_stock=None) & self.view.stock.in_stock
        reduced = self._without(reduced=None, clearance=None) & self.view.snapshot.clearance
        is_reduced = "true" in {self.wanted.reduced, self.wanted.clearance}
        choices = [
            Choice("inStock", "true", "In stock", len(in_stock), is_chosen=self.wanted.in_stock == "true"),
            Choice("reduced", "true", "Reduced", len(reduced), is_chosen=is_reduced),
        ]
        return Facet("Availability", _shown(choices))

    def _manufacturers(self) -> Facet:
        rows, chosen = self._without(manufacturer=()), {key_form(name) for name in self.wanted.manufacturer}
        choices = [
            Choice(
                "manufacturer",
                each.key,
                each.name,
                rows.intersection_cardinality(its),
                is_chosen=key_form(each.key) in chosen,
            )
            for each in self.view.snapshot.manufacturer_list
            if (its := self.view.snapshot.manufacturers.get(key_form(each.key))) is not None
        ]
        return Facet("Manufacturer", _most_first(choices))

    def _prices(self) -> Facet:
        costs = self.view.prices.single_costs(rows_of(self._without(price=())))
        chosen = {each.text for each in read_ranges(self.wanted.price)}
        choices = [
            Choice("price", r.text, r.name, int(r.includes(costs).sum()), is_chosen=r.text in chosen)
            for r in PRICE_RANGES
        ]
        return Facet("Your price", _shown(choices))

    def _attribute(self, attribute: ProductAttribute) -> Facet:
        own = [text for text in self.wanted.attribute if _is_of(attribute, text)]
        others = tuple(text for text in self.wanted.attribute if text not in own)
        rows = self._without(attribute=others) if own else self.found.rows
        chosen = {key_form(text.partition("=")[2].strip()) for text in own}
        index = self.view.snapshot.attributes
        choices = [
            Choice(
                "attribute",
                f"{attribute.key}={value}",
                _value_name(attribute, value),
                rows.intersection_cardinality(index.having(attribute.key, value)),
                is_chosen=key_form(value) in chosen,
            )
            for value in (possible_value.value for possible_value in attribute.possible_values)
        ]
        if attribute.type == "int":
            return Facet(attribute.name, sorted(_shown(choices), key=lambda each: as_number(each.name) or 0))
        return Facet(attribute.name, _most_first(choices))

    def _common_attributes(self) -> list[ProductAttribute]:
        """Return the attributes that most of the products have, and those that are chosen, the most common first."""
        rows = rows_of(self.found.rows)
        sample = rows[:: max(1, len(rows) // _SAMPLED_ROWS)][:_SAMPLED_ROWS].tolist()
        uses = Counter(chain.from_iterable(self.view.product(row).attributes for row in sample))

        def use(attribute: ProductAttribute) -> int:
            return max(uses[attribute.name], uses[attribute.key])

        everything = self.view.snapshot.attribute_list
        chosen = [each for each in everything if any(_is_of(each, text) for text in self.wanted.attribute)]
        is_whole = not self.wanted.category and not self.wanted.query and not self.wanted.manufacturer
        common = [each for each in everything if use(each) * _RARE_FROM > len(sample)] if not is_whole else []
        others = sorted((each for each in common if each not in chosen), key=use, reverse=True)
        return [*chosen, *others[:_MOST_ATTRIBUTES]]


def _is_of(attribute: ProductAttribute, text: str) -> bool:
    """Return whether a filter says which value an attribute has."""
    name, equals, _ = text.partition("=")
    return bool(equals) and key_form(name) in {key_form(attribute.key), key_form(attribute.name)}


def _value_name(attribute: ProductAttribute, value: str) -> str:
    return {"true": "Yes", "false": "No"}.get(value, value) if attribute.type == "boolean" else value


def _shown(choices: Iterable[Choice]) -> list[Choice]:
    return [choice for choice in choices if choice.count or choice.is_chosen]


def _most_first(choices: Iterable[Choice]) -> list[Choice]:
    return sorted(_shown(choices), key=lambda each: (-each.count, key_form(each.name)))
