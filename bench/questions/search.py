"""Searching with one, two and three words, the last of them sometimes only begun."""

import re
from urllib.parse import quote_plus

from bench.kit.catalogue import Product, number_of
from bench.kit.figures import Row
from bench.kit.reads import ReadQuestion, compare
from bench.kit.workbench import Workbench

QUERIES = 48
_WORDS = 3
_BEGUN = 4  # letters typed so far of a word that is not finished


def queries(products: list[Product]) -> list[str]:
    """Return queries whose words stand together in products' names, so that all of them find something."""
    chosen = sorted(products, key=lambda product: number_of(product["sku"], "query"))
    found: dict[str, None] = {}
    for product in chosen:
        words = re.findall(r"[A-Za-z0-9]+", product["name"])
        wanted = words[: len(found) % _WORDS + 1]
        if len(found) % 2 and len(wanted) > 1:
            wanted[-1] = wanted[-1][:_BEGUN]
        if wanted:
            found.setdefault(" ".join(wanted).lower())
        if len(found) == QUERIES:
            break
    return list(found)


def measure(bench: Workbench) -> list[Row]:
    """Compare the product with nginx."""
    encoded = [quote_plus(query) for query in queries(list(bench.catalogue.products))]
    return compare(
        bench,
        ReadQuestion(
            question="Search",
            what="`query=` of one to three words",
            path_of=lambda number: f"/product?limit=100&query={encoded[number % len(encoded)]}",
            goal=0.3,
        ),
    )
