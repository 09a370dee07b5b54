"""The unchanging parts of every product's JSON and CSV, encoded once; rendering inserts prices and stock.

JSON: head  availability  costs  rest  [related]  },
CSV:  head  availability  costs  tail  [extras]  end of line

The rest of a product has a place for its descriptions, which are shown on request. A product ends with what separates
it from the next one, so that what lies between the costs of two neighbours is one piece.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw, Struct, defstruct
from numpy.typing import NDArray

from tradecounter.kit.columns.bytes_column import BytesColumn, BytesColumnBuilder, GappedColumn, GappedColumnBuilder
from tradecounter.kit.csv_text import LINE_END, cells_of
from tradecounter.kit.json_text import to_json_lines
from tradecounter.products.queries.records import ImageRecord, OrderableProduct, ProductRecord

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
_INTERNAL = ("id", "sku_key", "components", "documents", "active")

AFTER_JSON = b"},"  # ends the JSON of each product
AFTER_CSV = LINE_END.encode()


class Fragments(Struct, frozen=True):
    """Columns of encoded parts, by row.

    `members` are shown only on request; `internal` is never shown. The JSON columns together contain the whole
    product; memory has no other copy.
    """

    json: GappedColumn
    before_descriptions: NDArray[np.uint16]  # bytes of what follows the gap
    csv: GappedColumn
    members: dict[str, BytesColumn]
    internal: BytesColumn

    def product(self, row: int) -> ProductRecord:
        """Decode a row's product. Its attributes are keyed by name."""
        pieces = (self.internal[row], *(column[row] for column in self.members.values()))
        head = self.json.before(row).removesuffix(_AFTER_HEAD)
        rest = self.json.after(row).removesuffix(AFTER_JSON)
        return _products.decode(head + rest + b"," + b",".join(pieces) + b"}")

    def orderable(self, row: int) -> OrderableProduct:
        """Decode what an order needs of a row's product."""
        head = self.json.before(row).removesuffix(_AFTER_HEAD)
        return _orderable_products.decode(head + b"," + self.internal[row] + b"}")

    @property
    def parts(self) -> Iterator[bytes]:
        """The buffers of the JSON columns, for a digest; the CSV has the same content."""
        for column in (self.json.halves, *self.members.values(), self.internal):
            yield from column.parts
        yield self.before_descriptions.tobytes()


_AFTER_HEAD = b',"availability":'
_Head = defstruct("_Head", HEAD)
_Middle = defstruct("_Middle", MIDDLE)
_Tail = defstruct("_Tail", TAIL)
_Internal = defstruct("_Internal", _INTERNAL)
_Image = defstruct("_Image", ("is_primary", "url"))
_head_of, _internal_of = attrgetter(*HEAD[:-1]), attrgetter(*_INTERNAL)
_products = msgspec.json.Decoder(ProductRecord)
_orderable_products = msgspec.json.Decoder(OrderableProduct)


class FragmentsBuilder:
    """Encodes products in the order of their rows. `attribute_names` is by key."""

    def __init__(self, attribute_names: Mapping[str, str]) -> None:
        self._attribute_names = attribute_names
        self._json, self._csv, self._internal = GappedColumnBuilder(), GappedColumnBuilder(), BytesColumnBuilder()
        self._before_descriptions = array("H")
        self._members = {name: BytesColumnBuilder() for name in DESCRIPTIONS + LINKS}

    def add(self, products: Sequence[ProductRecord]) -> None:
        """Encode the products of the next rows."""
        # Called for every product of every new snapshot, so it must be fast: whole columns at a time, nothing twice.
        images = to_json_lines([_images(product.images) for product in products])
        # `jsonb` does not keep the order of keys, so they are sorted by name.
        attributes = to_json_lines([self._by_name(product.attributes) for product in products], sort_keys=True)
        heads = [_Head(*_head_of(product), Raw(image)) for product, image in zip(products, images, strict=True)]
        middles = [_Middle(product.consumer_unit_cost) for product in products]
        tails = [
            _Tail(p.store_url, p.categories, Raw(attribute)) for p, attribute in zip(products, attributes, strict=True)
        ]
        internals = [_Internal(*_internal_of(product)) for product in products]
        before = [b"," + line[1:-1] for line in to_json_lines(middles)]
        self._before_descriptions.extend(map(len, before))
        after = [b"%b,%b," % (b, line[1:]) for b, line in zip(before, to_json_lines(tails), strict=True)]
        self._json.add([line[:-1] + _AFTER_HEAD for line in to_json_lines(heads)], after)
        self._internal.add([line[1:-1] for line in to_json_lines(internals)])
        for name, column in self._members.items():
            member = b'"%b":' % name.encode()
            column.add([member + line for line in to_json_lines([getattr(product, name) for product in products])])
        tails_of_lines = _csv_parts(products, (*MIDDLE, *TAIL[:-1]), attributes)
        self._csv.add(_csv_parts(products, HEAD[:-1], images), [tail + AFTER_CSV for tail in tails_of_lines])

    def _by_name(self, attributes: dict[str, str]) -> dict[str, str]:
        """Return attributes by shown name; one without a name is shown by its key, unless another has that name."""
        names = self._attribute_names
        if attributes.keys() <= names.keys():
            return {names[key]: value for key, value in attributes.items()}
        named = {names[key]: value for key, value in attributes.items() if key in names}
        return {key: value for key, value in attributes.items() if key not in names} | named

    def done(self) -> Fragments:
        """Return the pieces of all products."""
        return Fragments(
            json=self._json.done(),
            before_descriptions=np.array(self._before_descriptions, dtype=np.uint16),
            csv=self._csv.done(),
            members={name: column.done() for name, column in self._members.items()},
            internal=self._internal.done(),
        )


def _images(images: list[ImageRecord]) -> list[Any]:
    """Return images with members in a fixed order; `jsonb` does not keep an order."""
    return [_Image(image["is_primary"], image["url"]) for image in images]


def _csv_parts(products: Sequence[ProductRecord], names: tuple[str, ...], last: Sequence[bytes]) -> list[bytes]:
    """Return the cells of each product, followed by a JSON list or object as the last cell."""
    return list(map(b"%b,%b".__mod__, zip(csv_cells(products, names), map(_json_cell, last), strict=True)))


def _json_cell(text: bytes) -> bytes:
    """Return a JSON list or object as a CSV cell; only an empty list or object contains no quotes."""
    return b'"%b"' % text.replace(b'"', b'""') if b'"' in text else text


def csv_cells(products: Sequence[ProductRecord], names: tuple[str, ...]) -> list[bytes]:
    """Return each product's values, none of them an object, as cells of a CSV line joined by commas."""
    columns = [_FORMATTERS[name]([getattr(product, name) for product in products]) for name in names]
    return [",".join(cells).encode() for cells in zip(*columns, strict=True)]


_CellsOf = Callable[[list[Any]], Iterable[str]]


def _formatter_of(type_: Any) -> _CellsOf:
    """Return the function that formats values of a type as CSV cells; numbers and flags never need quotes."""
    formatters: dict[Any, _CellsOf] = {
        Decimal: lambda values: map(str, values),
        bool: lambda values: ["true" if value else "false" for value in values],
        str | None: lambda values: cells_of([value or "" for value in values]),
        list[str]: lambda values: cells_of(list(map("|".join, values))),
    }
    return formatters.get(type_, cells_of)


_FORMATTERS = {field.name: _formatter_of(field.type) for field in msgspec.structs.fields(ProductRecord)}
