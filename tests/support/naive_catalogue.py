"""What the product endpoints must return, computed independently from the import rows in the plainest way.

Written from the specification and the decisions alone: it shares no code with the project, and looks at every product
for every request, so that it can be read and believed.
"""

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from urllib.parse import quote

from support.naive_search import NaiveSearch, Texts

Row = dict[str, Any]
Costs = tuple[Decimal, Decimal, Decimal]
AttributeFilter = tuple[str, str, str]

EXTRAS = {
    "description": "description",
    "description_html": "description_html",
    "short_description": "short_description",
    "related": "related_products",
    "similar": "similar_products",
}


class BadRequestError(Exception):
    """The request must get a 400."""


@dataclass(frozen=True)
class ShopRows:
    """A whole shop as import rows."""

    categories: Sequence[Row]
    manufacturers: Sequence[Row]
    attributes: Sequence[Row]
    products: Sequence[Row]
    prices: Sequence[Row]
    stock: Sequence[Row]
    incoming: Sequence[Row]


@dataclass(frozen=True)
class Buyer:
    """What of a customer decides what it sees; contracts are rows without the customer's id, by SKU."""

    price_list: str | None = None
    discount: Decimal = Decimal(0)
    trade: bool = True
    contracts: Mapping[str, Sequence[Row]] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """A request for a list of products."""

    sku: tuple[str, ...] = ()
    manufacturer: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    query: str | None = None
    attribute: tuple[AttributeFilter, ...] = ()
    reduced: str | None = None
    clearance: str | None = None
    in_stock: str | None = None
    sort: str | None = None
    extra: tuple[str, ...] = ()
    page: int | None = None
    limit: int | None = None

    def pairs(self) -> list[tuple[str, str]]:
        """The query's parts, every value percent-encoded but for the commas between a list's values."""
        lists = {
            "sku": self.sku,
            "manufacturer": self.manufacturer,
            "category": self.category,
            "attribute": tuple("".join(parts) for parts in self.attribute),
            "extra": self.extra,
        }
        texts = {
            "query": self.query,
            "reduced": self.reduced,
            "clearance": self.clearance,
            "inStock": self.in_stock,
            "sort": self.sort,
            "page": self.page,
            "limit": self.limit,
        }
        return [
            *((name, ",".join(quote(value, safe="") for value in values)) for name, values in lists.items() if values),
            *((name, quote(str(value), safe="")) for name, value in texts.items() if value is not None),
        ]


@dataclass(frozen=True)
class Listing:
    """A page of products and the headers that go with it."""

    products: list[Row]
    total: int
    page: int
    limit: int

    @property
    def pages(self) -> int:
        if self.limit == 0:
            return 1 if self.total else 0
        return len(range(0, self.total, self.limit))

    def links(self, url: str, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
        """The addresses that the `Link` header names, by relation."""
        if self.total == 0:
            return {}
        kept = "".join(f"{name}={value}&" for name, value in pairs if name not in {"page", "limit"})
        pages = {"first": 1, "last": self.pages}
        if self.page > 1:
            pages["prev"] = min(self.page - 1, self.pages)
        if self.page < self.pages:
            pages["next"] = self.page + 1
        return {rel: f"{url}?{kept}page={page}&limit={self.limit}" for rel, page in pages.items()}


@dataclass
class NaiveCatalogue:
    """A shop on one UK date."""

    rows: ShopRows
    today: date
    low_stock: int = 5

    def __post_init__(self) -> None:
        self._searches: dict[frozenset[int], NaiveSearch] = {}
        self._prices = {(row["price_list"], row["sku"].casefold()): row for row in self.rows.prices}
        self._stock = {row["sku"].casefold(): row["available"] for row in self.rows.stock}
        self._attributes = {row["key"]: row for row in self.rows.attributes}
        self._products = {row["sku"].casefold(): row for row in self.rows.products}
        self._incoming: dict[str, list[Row]] = {}
        for row in self.rows.incoming:
            self._incoming.setdefault(row["sku"].casefold(), []).append(row)

    def listing(self, buyer: Buyer, wanted: Wanted, *, csv: bool = False) -> Listing:
        """The requested page. Raises BadRequestError."""
        found = self._found(buyer, wanted)
        whole = csv and wanted.page is None and wanted.limit is None
        limit = 0 if whole else 100 if wanted.limit is None else wanted.limit
        page = wanted.page or 1
        start, end = ((page - 1) * limit, page * limit) if limit else (0 if page == 1 else len(found), len(found))
        shown = [self.shown(row, buyer, wanted.extra) for row in found[start:end]]
        return Listing(shown, len(found), page, limit)

    def by_sku(self, sku: str, buyer: Buyer, extra: Sequence[str] = ()) -> Row | None:
        """The response of `GET /product/{sku}`; None means 404."""
        row = self._products.get(sku.casefold())
        if row is None or not self._is_for_sale(row, buyer):
            return None
        return self.shown(row, buyer, ("description", "short_description", *extra))

    def shown(self, row: Row, buyer: Buyer, extra: Sequence[str]) -> Row:
        """A product as the customer sees it in JSON."""
        single, five, ten = self._agreed_costs(row, buyer)
        shown: Row = {
            "sku": row["sku"],
            "ean": row.get("ean"),
            "name": row["name"],
            "manufacturer": row["manufacturer"],
            **{name: row.get(name) or 0 for name in ("weight_kg", "box_width_mm", "box_height_mm", "box_length_mm")},
            "clearance_product": row.get("clearance_product", False),
            "images": row.get("images", []),
            "availability": self.availability(row["sku"], buyer),
            "single_unit_cost": single,
            "five_plus_unit_cost": five,
            "ten_plus_unit_cost": ten,
            "consumer_unit_cost": row.get("consumer_unit_cost") or 0,
            "store_url": row.get("store_url") or "",
            "categories": row.get("categories", []),
            "attributes": {self._attributes[key]["name"]: v for key, v in row.get("attributes", {}).items()},
        }
        for name in extra:
            value = row.get(EXTRAS[name])
            if name in {"related", "similar"}:
                linked = [(sku, self._products.get(sku.casefold())) for sku in value or ()]
                value = [sku for sku, other in linked if other is not None and self._is_for_sale(other, buyer)]
            shown[EXTRAS[name]] = "" if value is None else value
        return shown

    def costs(self, sku: str, buyer: Buyer) -> Costs | None:
        """Net unit costs for 1, 5 and 10 units."""
        agreed = [row for row in buyer.contracts.get(sku, ()) if self._is_valid(row)]
        if agreed:
            return _breaks(max(agreed, key=lambda c: c["valid_from"] or date.min), Decimal(0))
        for price_list in (buyer.price_list, "default"):
            row = self._prices.get((price_list, sku.casefold()))
            if row is not None:
                return _breaks(row, buyer.discount)
        return None

    def _agreed_costs(self, row: Row, buyer: Buyer) -> Costs:
        costs = self.costs(row["sku"], buyer)
        assert costs is not None
        return costs

    def availability(self, sku: str, buyer: Buyer) -> Row:
        available = self._stock.get(sku.casefold(), 0)
        deliveries = self._incoming.get(sku.casefold(), []) if buyer.trade else []
        if available >= self.low_stock:
            status = "In stock"
        elif available:
            status = "Low stock"
        else:
            status = "On order" if deliveries else "Out of stock"
        incoming = [{"incoming": row["incoming"], "expected_on": _moment(row["expected_on"])} for row in deliveries]
        incoming.sort(key=lambda delivery: str(delivery["expected_on"]))
        return {"available": available, "status": status, "incoming": incoming}

    def _is_valid(self, contract: Row) -> bool:
        return (contract["valid_from"] or date.min) <= self.today <= (contract["valid_until"] or date.max)

    def _is_for_sale(self, row: Row, buyer: Buyer) -> bool:
        return row.get("active", True) and self.costs(row["sku"], buyer) is not None

    def _found(self, buyer: Buyer, wanted: Wanted) -> list[Row]:
        reduced = {flag for flag in (wanted.reduced, wanted.clearance) if flag is not None}
        if len(reduced) == 2:
            raise BadRequestError
        categories = self._category_keys(wanted.category)
        manufacturers = {key.casefold() for key in wanted.manufacturer}
        skus = {sku.casefold() for sku in wanted.sku}
        filters = [self._checked(*parts) for parts in wanted.attribute]
        found = [
            row
            for row in self.rows.products
            if (not wanted.sku or row["sku"].casefold() in skus)
            and (not wanted.manufacturer or row["manufacturer"].casefold() in manufacturers)
            and (not wanted.category or categories & set(row.get("categories", [])))
            and (not reduced or {str(row.get("clearance_product", False)).lower()} == reduced)
            and (wanted.in_stock != "true" or self._is_in_stock(row))
            and _passes(row.get("attributes", {}), filters)
            and self._is_for_sale(row, buyer)
        ]
        return self._sorted(found, buyer, wanted)

    def _searched(self, buyer: Buyer, query: str) -> dict[str, tuple[int, bool, bool]]:
        """The places of the products that a search finds, by SKU: field, whole words, order typed; lower is better."""
        visible = {number for number, row in enumerate(self.rows.products) if self._is_for_sale(row, buyer)}
        key = frozenset(visible)
        if key not in self._searches:
            self._searches[key] = NaiveSearch([self._texts(row) for row in self.rows.products], visible)
        naive = self._searches[key]
        words, _ = naive.read(query)
        found = {}
        for number, (place, whole) in naive.levels(words).items():
            ordered = len(words) == 1 or (place < 2 and naive.in_order(number, words))
            found[self.rows.products[number]["sku"]] = (place, not whole, not ordered)
        return found

    def _sorted(self, found: list[Row], buyer: Buyer, wanted: Wanted) -> list[Row]:
        found.sort(key=lambda row: row["sku"].casefold())
        places = None if not (wanted.query or "").strip() else self._searched(buyer, wanted.query or "")
        if places is not None:
            found[:] = [row for row in found if row["sku"] in places]
        match wanted.sort:
            case "price":
                found.sort(key=lambda row: self._agreed_costs(row, buyer)[0])
            case "availability":
                found.sort(key=lambda row: self._stock.get(row["sku"].casefold(), 0), reverse=True)
            case "name":
                found.sort(key=lambda row: row["name"].casefold())
            case None if places is not None:
                exact = (wanted.query or "").strip()
                found.sort(key=lambda row: (self._relevance(row, exact, places), not self._is_in_stock(row)))
        return found

    @staticmethod
    def _relevance(row: Row, exact: str, places: dict[str, tuple[int, bool, bool]]) -> tuple[int, ...]:
        if row["sku"].casefold() == exact.casefold():
            return (0,)
        return (1,) if row.get("ean") == exact else (2, *places[row["sku"]])

    def _is_in_stock(self, row: Row) -> bool:
        return bool(self._stock.get(row["sku"].casefold(), 0) > 0)

    def _category_keys(self, wanted: Sequence[str]) -> set[str]:
        names = {name.casefold() for name in wanted}
        keys: set[str] = set()
        for parent in self.rows.categories:
            children = parent["children"] or []
            if {parent["key"].casefold(), parent["name"].casefold()} & names:
                keys |= {parent["key"], *(child["key"] for child in children)}
            keys |= {c["key"] for c in children if {c["key"].casefold(), c["name"].casefold()} & names}
        return keys

    def _checked(self, name: str, sign: str, value: str) -> tuple[str, str, Decimal | str]:
        """A filter with its attribute's key and its value as number or as text without case."""
        for key, attribute in self._attributes.items():
            if name.casefold() in {key.casefold(), attribute["name"].casefold()}:
                if attribute["type"] != "int":
                    if sign != "=":
                        raise BadRequestError
                    return key, sign, value.casefold()
                if not re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", value):
                    raise BadRequestError
                return key, sign, Decimal(value)
        raise BadRequestError

    def _texts(self, row: Row) -> Texts:
        """What is searched of a product."""
        [maker] = [m["name"] for m in self.rows.manufacturers if m["key"] == row["manufacturer"]]
        markup = html.unescape(re.sub(r"<[^>]*>", " ", row.get("description_html") or ""))
        kinds = {key: attribute["type"] for key, attribute in self._attributes.items()}
        own = set(row.get("categories", []))
        categories = [
            text
            for parent in self.rows.categories
            for category in (parent, *(parent["children"] or []))
            if category["key"] in own or own & {child["key"] for child in category.get("children") or []}
            for text in (category["key"], category["name"])
        ]
        return {
            "code": [row["sku"], *([row["ean"]] if row.get("ean") else [])],
            "name": [row["name"]],
            "manufacturer": [row["manufacturer"], maker],
            "category": categories,
            "attribute": [v for key, v in row.get("attributes", {}).items() if kinds.get(key, "boolean") != "boolean"],
            "text": ["\n".join([row.get("short_description") or "", row.get("description") or "", markup])],
        }


def _passes(attributes: dict[str, str], filters: list[tuple[str, str, Decimal | str]]) -> bool:
    equal: dict[str, bool] = {}
    for key, sign, wanted in filters:
        if key not in attributes:
            return False
        has = Decimal(attributes[key]) if isinstance(wanted, Decimal) else attributes[key].casefold()
        if sign == "=":
            equal[key] = equal.get(key, False) or has == wanted
        elif not isinstance(wanted, Decimal) or not isinstance(has, Decimal) or not _compares(has, sign, wanted):
            return False
    return all(equal.values())


def _compares(has: Decimal, sign: str, wanted: Decimal) -> bool:
    return {"<": has < wanted, "<=": has <= wanted, ">": has > wanted, ">=": has >= wanted}[sign]


def _breaks(row: Row, discount: Decimal) -> Costs:
    single = row["single_unit_cost"]
    five = single if row["five_plus_unit_cost"] is None else row["five_plus_unit_cost"]
    ten = five if row["ten_plus_unit_cost"] is None else row["ten_plus_unit_cost"]
    single, five, ten = (
        (Decimal(cost) * (100 - discount) / 100).quantize(Decimal("0.01"), ROUND_HALF_UP)
        for cost in (single, five, ten)
    )
    return single, five, ten


def _moment(text: str) -> str:
    return text if "T" in text else f"{text}T00:00:00"


def product_from_csv(cells: dict[str, str]) -> Row:
    """A line of the CSV as the JSON has it; the header names the cells."""
    product: Row = {}
    for name, cell in cells.items():
        place, _, inner = name.rpartition(".")
        (product.setdefault(place, {}) if place else product)[inner] = _from_cell(name, cell)
    return product


def _from_cell(name: str, cell: str) -> Any:
    if name in {"images", "attributes", "availability.incoming"}:
        return json.loads(cell)
    if name in {"categories", "related_products", "similar_products"}:
        return cell.split("|") if cell else []
    if name == "clearance_product":
        return {"true": True, "false": False}[cell]
    if name == "ean":
        return cell or None
    return Decimal(cell) if name.endswith(("_cost", "_kg", "_mm", ".available")) else cell
