"""The unchanging parts of every product's JSON and CSV, encoded once; rendering inserts prices and stock.

JSON: head  availability  costs  middle  [descriptions]  tail  [related]  }
CSV:  head  availability  costs  tail    [extras]
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Raw, defstruct

from tradecounter.catalogue.columns.bytes_column import BytesColumn, bytes_column
from tradecounter.catalogue.queries.records import ImageRecord, OrderableProduct, ProductRecord
from tradecounter.rest.csv_text import cell
from tradecounter.rest.responses import to_json

HEAD = (
    "sku", "ean", "name", "manufacturer", "weight_kg", "box_width_mm", "box_height_mm", "box_length_mm",
    "clearance_product", "images",
)  # fmt: skip
AVAILABILITY = ("availability.available", "availability.status", "availability.incoming")
COSTS = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")
MIDDLE = ("consumer_unit_cost",)
TAIL = ("store_url", "categories", "attributes")
DESCRIPTIONS = ("description", "description_html", "short_description")
LINKS = ("related_products", "similar_products")
_INTERNAL = ("id", "sku_key", "components", "active")

_Rows = list[bytes]


@dataclass(frozen=True, slots=True)
class Fragments:
    """Columns of encoded parts, by row.

    `members` are shown only on request; `internal` is never shown. The JSON columns together contain the whole
    product; memory has no other copy.
    """

    json_head: BytesColumn
    json_middle: BytesColumn
    json_tail: BytesColumn
    csv_head: BytesColumn
    csv_tail: BytesColumn
    members: dict[str, BytesColumn]
    internal: BytesColumn

    def product(self, row: int) -> ProductRecord:
        """Decode a row's product. Its attributes are keyed by name."""
        pieces = (self.internal[row], *(column[row] for column in self.members.values()), self.json_tail[row][1:])
        head = self.json_head[row].removesuffix(_AFTER_HEAD)
        return _products.decode(head + self.json_middle[row] + b"," + b",".join(pieces) + b"}")

    def orderable(self, row: int) -> OrderableProduct:
        """Decode what an order needs of a row's product."""
        head = self.json_head[row].removesuffix(_AFTER_HEAD)
        return _orderable_products.decode(head + b"," + self.internal[row] + b"}")

    @property
    def parts(self) -> Iterator[bytes]:
        """The buffers of the JSON columns, for a digest; the CSV has the same content."""
        for column in (self.json_head, self.json_middle, self.json_tail, *self.members.values(), self.internal):
            yield from column.parts


_AFTER_HEAD = b',"availability":'
_MEMBER_NAMES = [b'"%b":' % name.encode() for name in DESCRIPTIONS + LINKS]
_Head = defstruct("_Head", HEAD)
_Middle = defstruct("_Middle", MIDDLE)
_Tail = defstruct("_Tail", TAIL)
_Internal = defstruct("_Internal", _INTERNAL)
_Image = defstruct("_Image", ("is_primary", "url"))
_head_of, _members_of, _internal_of = attrgetter(*HEAD[:-1]), attrgetter(*DESCRIPTIONS, *LINKS), attrgetter(*_INTERNAL)
_products = msgspec.json.Decoder(ProductRecord)
_orderable_products = msgspec.json.Decoder(OrderableProduct)


class FragmentsBuilder:
    """Encodes products in the order of their rows. `attribute_names` is by key."""

    def __init__(self, attribute_names: Mapping[str, str]) -> None:
        self._attribute_names = attribute_names
        self._head, self._middle, self._tail, self._internal = _Rows(), _Rows(), _Rows(), _Rows()
        self._csv_head, self._csv_tail = _Rows(), _Rows()
        self._members = {name: _Rows() for name in DESCRIPTIONS + LINKS}

    def add(self, product: ProductRecord) -> None:
        """Encode the product of the next row."""
        # Called for every product of every new snapshot, so it must be fast: no dictionaries, nothing encoded twice.
        images, attributes = _images(product.images), self._attributes(product.attributes)
        self._head.append(to_json(_Head(*_head_of(product), Raw(images)))[:-1] + _AFTER_HEAD)
        self._middle.append(b"," + to_json(_Middle(product.consumer_unit_cost))[1:-1])
        self._tail.append(b"," + to_json(_Tail(product.store_url, product.categories, Raw(attributes)))[1:-1])
        self._internal.append(to_json(_Internal(*_internal_of(product)))[1:-1])
        for column, name, value in zip(self._members.values(), _MEMBER_NAMES, _members_of(product), strict=True):
            column.append(name + to_json(value))
        self._csv_head.append(csv_cells(product, HEAD[:-1]) + b"," + _json_cell(images))
        self._csv_tail.append(csv_cells(product, (*MIDDLE, *TAIL[:-1])) + b"," + _json_cell(attributes))

    def _attributes(self, attributes: dict[str, str]) -> bytes:
        """Return attributes as JSON by name, in a fixed order; `jsonb` does not keep an order."""
        names = self._attribute_names
        return to_json(dict(sorted((names.get(key, key), value) for key, value in attributes.items())))

    def done(self) -> Fragments:
        """Return the pieces of all products."""
        return Fragments(
            json_head=bytes_column(self._head),
            json_middle=bytes_column(self._middle),
            json_tail=bytes_column(self._tail),
            csv_head=bytes_column(self._csv_head),
            csv_tail=bytes_column(self._csv_tail),
            members={name: bytes_column(rows) for name, rows in self._members.items()},
            internal=bytes_column(self._internal),
        )


def _images(images: list[ImageRecord]) -> bytes:
    """Return images as JSON, with members in a fixed order; `jsonb` does not keep an order."""
    return to_json([_Image(image["is_primary"], image["url"]) for image in images])


def _json_cell(text: bytes) -> bytes:
    """Return a JSON list or object as a CSV cell; only an empty list or object contains no quotes."""
    return b'"%b"' % text.replace(b'"', b'""') if b'"' in text else text


def csv_cells(product: ProductRecord, names: tuple[str, ...]) -> bytes:
    """Return a product's values, none of them an object, as cells of a CSV line joined by commas."""
    values, formatters = _csv_of(names)
    return ",".join([format_(value) for format_, value in zip(formatters, values(product), strict=True)]).encode()


@cache
def _csv_of(names: tuple[str, ...]) -> tuple[Callable[[ProductRecord], Any], list[Callable[[Any], str]]]:
    types = {field.name: field.type for field in msgspec.structs.fields(ProductRecord)}
    values = attrgetter(*names)
    return (values if len(names) > 1 else lambda product: (values(product),)), [_formatter(types[n]) for n in names]


def _formatter(type_: Any) -> Callable[[Any], str]:
    """Return the function that formats a value of a type as a CSV cell; numbers and flags never need quotes."""
    formatters: dict[Any, Callable[[Any], str]] = {
        Decimal: str,
        bool: lambda value: "true" if value else "false",
        str | None: lambda value: "" if value is None else cell(value),
        list[str]: lambda value: cell("|".join(value)),
    }
    return formatters.get(type_, cell)
