"""One product: two thousand different ones, against nginx with equally small files."""

from urllib.parse import quote

from bench.kit.figures import Row
from bench.kit.reads import ReadQuestion, compare
from bench.kit.workbench import Workbench


def measure(bench: Workbench) -> list[Row]:
    """Compare the product with nginx."""
    skus = [quote(product["sku"], safe="") for product in bench.catalogue.products]
    return compare(
        bench,
        ReadQuestion(
            question="Single product",
            what="`GET /product/{sku}`",
            path_of=lambda number: f"/product/{skus[number * 7 % len(skus)]}",
            goal=0.2,
        ),
    )
