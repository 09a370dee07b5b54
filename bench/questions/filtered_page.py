"""The same with manufacturer, category, stock and sorting by price: a few dozen different filters in rotation."""

from collections import Counter

from bench.kit.catalogue import Product
from bench.kit.figures import Row
from bench.kit.reads import ReadQuestion, compare
from bench.kit.workbench import Workbench

FILTERS = 36
_FEWEST = 5  # products that a filter leaves, before stock


def filters(products: list[Product]) -> list[tuple[str, str]]:
    """Return pairs of manufacturer and category, from the most to the least common that still find something."""
    pairs = Counter(
        (product["manufacturer"], category) for product in products for category in product.get("categories") or ()
    )
    usual = [pair for pair, count in sorted(pairs.items(), key=lambda item: (-item[1], item[0])) if count >= _FEWEST]
    return [usual[len(usual) * number // FILTERS] for number in range(FILTERS)]


def measure(bench: Workbench) -> list[Row]:
    """Compare the product with nginx."""
    paths = [
        f"/product?limit=100&manufacturer={manufacturer}&category={category}&inStock=true&sort=price"
        for manufacturer, category in filters(list(bench.catalogue.products))
    ]
    return compare(
        bench,
        ReadQuestion(
            question="Filtered page",
            what="the same with `manufacturer`, `category`, `inStock`, `sort=price`",
            path_of=lambda number: paths[number % len(paths)],
            goal=0.35,
            tail=True,
        ),
    )
