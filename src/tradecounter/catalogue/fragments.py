"""The unchanging parts of every product's JSON and CSV, encoded once; rendering splices prices and stock between them.

JSON: head  availability  costs  middle  [descriptions]  tail  [related]  }
CSV:  head  availability  costs  tail    [extras]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tradecounter.catalogue.records import ProductRecord
from tradecounter.rest.answers import to_json
from tradecounter.rest.csv_text import cell

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


@dataclass(frozen=True, slots=True)
class Fragments:
    """Encoded pieces, one of each per row."""

    json_head: list[bytes]
    json_middle: list[bytes]
    json_tail: list[bytes]
    csv_head: list[bytes]
    csv_tail: list[bytes]


def build_fragments(products: Sequence[ProductRecord]) -> Fragments:
    """Encode products in the order of their rows."""
    return Fragments(
        json_head=[b"{" + json_members(p, HEAD) + b',"availability":' for p in products],
        json_middle=[b"," + json_members(p, MIDDLE) for p in products],
        json_tail=[b"," + json_members(p, TAIL) for p in products],
        csv_head=[csv_cells(p, HEAD) for p in products],
        csv_tail=[csv_cells(p, MIDDLE + TAIL) for p in products],
    )


def json_members(product: ProductRecord, names: tuple[str, ...]) -> bytes:
    """Return members of a JSON object, without its braces."""
    return to_json({name: _ordered(name, getattr(product, name)) for name in names})[1:-1]


def csv_cells(product: ProductRecord, names: tuple[str, ...]) -> bytes:
    """Return values as they stand in a CSV line, joined by commas."""
    return ",".join(cell(_csv_text(name, _ordered(name, getattr(product, name)))) for name in names).encode()


def _ordered(name: str, value: Any) -> Any:
    """Return objects with their members in a fixed order, which the database does not keep."""
    if name == "images":
        return [{"is_primary": image["is_primary"], "url": image["url"]} for image in value]
    return dict(sorted(value.items())) if name == "attributes" else value


def _csv_text(name: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict) or name == "images":
        return to_json(value).decode()
    if isinstance(value, list):
        return "|".join(value)
    return str(value)
