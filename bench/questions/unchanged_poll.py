"""Polling an unchanged page: the response is 304, from nginx too."""

from bench.kit.figures import Row
from bench.kit.reads import ReadQuestion, compare
from bench.kit.workbench import Workbench

QUESTION = ReadQuestion(
    question="Unchanged poll",
    what="304 on `GET /product?limit=100` with `If-None-Match`",
    path_of=lambda _: "/product?limit=100",
    goal=0.2,
    unchanged=True,
)


def measure(bench: Workbench) -> list[Row]:
    """Compare the product with nginx."""
    return compare(bench, QUESTION)
