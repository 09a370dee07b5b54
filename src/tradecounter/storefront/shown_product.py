"""A product as a page of the shop shows it: at the customer's price, with its stock, and what is drawn of it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from msgspec import Struct

from tradecounter.kit.keys import key_form
from tradecounter.kit.money import from_pence
from tradecounter.prices.rules import UnitCosts, margin_percent
from tradecounter.products.on_pages import shown_description
from tradecounter.products.picture_addresses import pictures_of
from tradecounter.products.queries.records import PicturedRecord, ProductRecord
from tradecounter.stock.rules import Delivery, is_late
from tradecounter.storefront.view import CustomerView


class Look(Struct, frozen=True):
    """How a page shows a product: the addresses of its pictures, and what is drawn without one."""

    kind: str
    tint: str
    pictures: Sequence[str]


@dataclass(frozen=True)
class ShownProduct:
    """A product that the customer can buy."""

    view: CustomerView
    row: int
    costs: UnitCosts

    @cached_property
    def record(self) -> ProductRecord:
        """The product."""
        return self.view.product(self.row)

    @property
    def manufacturer(self) -> str:
        """The manufacturer's name."""
        key = self.record.manufacturer
        return next((each.name for each in self.view.snapshot.manufacturer_list if each.key == key), key)

    @property
    def description(self) -> str:
        """The description as text."""
        record = self.record
        return shown_description(record.description, record.description_html, record.short_description)

    @property
    def breaks(self) -> list[tuple[int, Decimal]]:
        """The price breaks: from how many units on, and the net unit cost."""
        return [(units, from_pence(pence)) for units, pence in self.costs.breaks]

    @property
    def price(self) -> Decimal:
        """The net cost of one unit."""
        return from_pence(self.costs.single)

    @property
    def margin(self) -> Decimal | None:
        """What the recommended retail price leaves above the cost of one unit, in per cent of it, if anything."""
        retail = self.record.consumer_unit_cost
        return margin_percent(retail, self.price) if retail > self.price else None

    @property
    def available(self) -> int:
        """The units in stock."""
        return self.view.available(self.row)

    @property
    def stock(self) -> str:
        """The status of the stock."""
        return self.view.stock_status(self.row)

    @property
    def deliveries(self) -> Sequence[Delivery]:
        """The expected deliveries that the customer may see, the first one first."""
        return self.view.shown_deliveries.get(self.row, ())

    @property
    def next_delivery(self) -> Delivery | None:
        """The first of these deliveries that is not late."""
        return next((delivery for delivery in self.deliveries if not is_late(delivery, self.view.day)), None)

    def is_late(self, delivery: Delivery) -> bool:
        """Return whether a delivery should have come before today."""
        return is_late(delivery, self.view.day)

    @property
    def pictures(self) -> list[str]:
        """The addresses of the pictures that may load, the primary one first."""
        return pictures_of(self.record.images)

    @cached_property
    def categories(self) -> list[tuple[str, str]]:
        """The keys and names of the categories, a parent before its children."""
        own = {key_form(key) for key in self.record.categories}
        named = []
        for top in self.view.snapshot.category_tree:
            inside = [(child.key, child.name) for child in top.children or () if key_form(child.key) in own]
            if inside or key_form(top.key) in own:
                named += [(top.key, top.name), *inside]
        return named

    @property
    def kind(self) -> str:
        """What is drawn for it."""
        return kind_of([*(name for _, name in reversed(self.categories)), self.record.name])

    @property
    def tint(self) -> str:
        """The colour that it is drawn in."""
        return tint_of(self.record.attributes)


def shown_products(view: CustomerView, rows: Iterable[int]) -> list[ShownProduct]:
    """Return the products of rows, without those that the customer cannot buy."""
    costs = ((row, view.unit_costs(row)) for row in rows)
    return [ShownProduct(view, row, found) for row, found in costs if found is not None]


def shown_skus(view: CustomerView, skus: Iterable[str]) -> list[ShownProduct]:
    """Return the products of SKUs, without those that the customer cannot buy."""
    return [ShownProduct(view, *product) for sku in skus if (product := view.find(sku)) is not None]


class ShownLine(Struct, frozen=True):
    """Units of a product that the customer can buy, such as a list has."""

    product: ShownProduct
    quantity: int

    @property
    def unit_cost(self) -> Decimal:
        """The net cost of one of so many units."""
        return from_pence(self.product.costs.at(self.quantity))

    @property
    def net(self) -> Decimal:
        """The net price of all its units."""
        return self.unit_cost * self.quantity


def shown_lines(view: CustomerView, lines: Iterable[tuple[int, int]]) -> list[ShownLine]:
    """Return pairs of product id and units, without products that the customer cannot buy."""
    products = ((view.find_by_id(product_id), units) for product_id, units in lines)
    return [ShownLine(ShownProduct(view, *product), units) for product, units in products if product is not None]


def look_of(record: PicturedRecord | ProductRecord, category_names: Mapping[str, str]) -> Look:
    """Return how a page shows a product; `category_names` are by key."""
    names = [category_names.get(key, key) for key in reversed(record.categories)]
    return Look(kind_of([*names, record.name]), tint_of(record.attributes), pictures_of(record.images))


_KINDS = (
    # In this order: a PoE switch is a switch, and a headset's cable a cable.
    ("headset", r"headsets?|headphones?|earphones?|speakerphones?"),
    ("conference", r"conferenc\w*|video bars?|cameras?|webcams?"),
    ("cable", r"cables?|leads?|cords?|patching|dacs?"),
    ("module", r"sfp\w*|modules?|transceivers?|interfaces?|licences?"),
    ("cabinet", r"cabinets?|racks?|mount\w*|brackets?|panels?|enclosures?"),
    ("tool", r"tools?|testers?"),
    ("phone", r"phones?|handsets?|dect|telephones?"),
    ("aerial", r"access points?|aps?|wireless|wi-?fi|aerials?|antennas?|bridges?"),
    ("router", r"routers?|modems?|firewalls?|gateways?|atas?"),
    ("power", r"power|poe injectors?|midspans?|ups|pdus?|suppl(?:y|ies)|batter(?:y|ies)|outlets?"),
    ("switch", r"switch(?:es)?|converters?|servers?|consoles?|pbx\w*|sbcs?|appliances?"),
)
_PATTERNS = [(kind, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for kind, words in _KINDS]
_OTHER = "box"

_TINTS = {
    "black": "black",
    "graphite": "black",
    "anthracite": "black",
    "white": "white",
    "ivory": "white",
    "sand": "white",
    "grey": "grey",
    "gray": "grey",
    "steel": "grey",
    "silver": "grey",
    "blue": "blue",
    "aqua": "blue",
    "red": "red",
    "violet": "violet",
    "purple": "violet",
    "yellow": "yellow",
    "orange": "yellow",
    "green": "green",
}
_COLOURS = {"colour", "color"}


def kind_of(texts: Iterable[str]) -> str:
    """Return what to draw: the kind that the first of the texts names that names one, or a box."""
    for text in texts:
        for kind, pattern in _PATTERNS:
            if pattern.search(text):
                return kind
    return _OTHER


def tint_of(attributes: dict[str, str]) -> str:
    """Return the colour to draw a product in, by the attribute Colour; `plain` without one."""
    named = next((value for name, value in attributes.items() if name.lower() in _COLOURS), "")
    return _TINTS.get(named.lower(), "plain")
