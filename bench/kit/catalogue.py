"""The catalogue under test: the real one, and the same multiplied, always to the same products.

Copies differ from their originals as variants of real products do: another SKU and EAN, a name with words that only
some share, now and then another manufacturer; so searching, sorting and filtering stay what they are on real data.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.kit.processes import BenchError

Product = dict[str, Any]

DEMO_DATA = Path(__file__).parents[2] / "src" / "tradecounter" / "demo" / "data"

_REFERENCES = ("categories", "manufacturers", "attributes")
_SUFFIXES = (".json", ".jsonl")
_SERIES = ("Lite", "Plus", "Pro", "Edge", "Core", "Max", "Campus", "Branch", "Metro", "Prime", "Rack", "Desk")
_FINISHES = ("black", "white", "grey", "hardened", "outdoor", "DIN rail", "fanless", "long range", "spare", "kit")
_MOVES = 7  # every seventh copy goes to another manufacturer
_DIGITS = 12  # of an EAN, without its check digit


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Products, and the folder of the files that they refer to."""

    folder: Path
    products: Sequence[Product]
    real: bool

    def reference_file(self, kind: str) -> Path:
        """Return the file of categories, manufacturers or attributes. Raises BenchError when it is absent."""
        for suffix in _SUFFIXES:
            if (path := self.folder / (kind + suffix)).exists():
                return path
        raise BenchError(f"{self.folder} has no {kind}.json or {kind}.jsonl")

    @property
    def reference_files(self) -> list[tuple[str, Path]]:
        """The kinds to import before the products, and their files."""
        return [(kind, self.reference_file(kind)) for kind in _REFERENCES]


def read_catalogue(folder: Path) -> Catalogue:
    """Return the catalogue of a folder, by default the demo's."""
    real = (folder / "products.jsonl").exists()
    place = folder if real else DEMO_DATA
    with (place / "products.jsonl").open(encoding="utf-8") as lines:
        products = [json.loads(line) for line in lines]
    return Catalogue(place, [product for product in products if product.get("active", True)], real)


def multiplied(products: Sequence[Product], count: int, seed: int = 1) -> Iterator[Product]:
    """Yield this many products: those given first, then variants of them."""
    makers = sorted({product["manufacturer"] for product in products})
    for number in range(count):
        product = products[number % len(products)]
        copy = number // len(products)
        yield product if copy == 0 else _variant(product, copy, makers, seed)


def _variant(product: Product, copy: int, makers: Sequence[str], seed: int) -> Product:
    dice = number_of(product["sku"], f"{seed}:{copy}")
    series, finish = _SERIES[dice % len(_SERIES)], _FINISHES[dice // 16 % len(_FINISHES)]
    mark = f"{copy + 1}{series[0]}{dice // 256 % 90 + 10}"
    moved = dice // 65536 % _MOVES == 0
    variant = product | {
        "sku": f"{product['sku']}-V{mark}",
        "ean": _ean(dice),
        "name": f"{product['name']} {series} {mark} {finish}",
        "manufacturer": makers[dice // 4096 % len(makers)] if moved else product["manufacturer"],
        "description": f"{product.get('description') or ''} Variant {mark} of the {series} series, {finish}.".strip(),
    }
    # A moved one's manufacturer has another name; bundles are not multiplied.
    return {key: value for key, value in variant.items() if key not in {"manufacturer_name", "components"}}


def number_of(text: str, purpose: str) -> int:
    """Return a number below 2^48 that looks random and is the same on every run."""
    return int.from_bytes(hashlib.sha256(f"{purpose}:{text}".encode()).digest()[:6])


def _ean(number: int) -> str:
    digits = f"2{number % 10 ** (_DIGITS - 1):0{_DIGITS - 1}}"
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return digits + str(-total % 10)


def single_pence(sku: str) -> int:
    """Return the made-up list price of one unit."""
    return 500 + number_of(sku, "price") % 200_000


def stock_of(sku: str) -> int:
    """Return the made-up units in stock; a quarter of the products have none."""
    number = number_of(sku, "stock")
    return 0 if number % 4 == 0 else number % 250 + 1


def pounds(pence: int) -> str:
    """Return an amount as import files have it."""
    return f"{pence // 100}.{pence % 100:02}"


def write_products(path: Path, products: Sequence[Product]) -> Path:
    """Write an import file of products."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(product, ensure_ascii=False) + "\n" for product in products)
    return path


def write_prices(path: Path, products: Sequence[Product], *, raised_by: int = 0) -> Path:
    """Write an import file of the default price list, raised by this many pence."""
    with path.open("w", encoding="utf-8") as file:
        file.write("price_list,sku,single_unit_cost,five_plus_unit_cost,ten_plus_unit_cost\n")
        for product in products:
            pence = single_pence(product["sku"]) + raised_by
            costs = ",".join(pounds(pence * percent // 100) for percent in (100, 97, 94))
            file.write(f"default,{_cell(product['sku'])},{costs}\n")
    return path


def write_stock(path: Path, products: Sequence[Product]) -> Path:
    """Write an import file of stock levels."""
    with path.open("w", encoding="utf-8") as file:
        file.write("sku,available\n")
        file.writelines(f"{_cell(product['sku'])},{stock_of(product['sku'])}\n" for product in products)
    return path


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
