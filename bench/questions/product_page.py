"""A page of a hundred products as JSON, at the customer's own prices: how near is it to nginx serving the bytes?"""

from bench.kit.figures import Row
from bench.kit.reads import ReadQuestion, compare
from bench.kit.workbench import Workbench

QUESTION = ReadQuestion(
    question="Product page",
    what="`GET /product?limit=100`",
    path_of=lambda _: "/product?limit=100",
    goal=0.4,
    tail=True,
)


def measure(bench: Workbench) -> list[Row]:
    """Compare the product with nginx."""
    return compare(bench, QUESTION)
