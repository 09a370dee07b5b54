"""How long do imports take that arrive every night: 100,000 prices, and 20,000 products?

The first ones into an empty database, and prices that all change; through the command line, its start included.
"""

from time import perf_counter

from bench.kit.catalogue import write_prices
from bench.kit.figures import Row, seconds
from bench.kit.product import tradecounter
from bench.kit.store import Store
from bench.kit.workbench import LARGE, MEDIUM, Workbench

PRICES_SECONDS = 20
PRODUCTS_SECONDS = 10


def measure(bench: Workbench) -> list[Row]:
    """Report the time of the first imports, and change all prices."""
    medium, large = bench.store(MEDIUM), bench.store(LARGE)
    return [
        _row("20,000 products, all new", medium.first_imports["products"], PRODUCTS_SECONDS),
        _row("100,000 prices, all new", large.first_imports["price-list"], PRICES_SECONDS),
        _row("100,000 prices, all changed", _changed(large), PRICES_SECONDS),
    ]


def _changed(store: Store) -> float:
    path = write_prices(store.folder / "prices-changed.csv", store.products, raised_by=100)
    start = perf_counter()
    tradecounter(store.env, "import", "price-list", path, "--force")
    return perf_counter() - start


def _row(what: str, taken: float, most: float) -> Row:
    return Row(
        question="Imports",
        what=what,
        ratio=taken / most,
        target=f"≤ {most} s",
        bound=1,
        ours=seconds(taken),
        limit=seconds(most),
        note="the ratio is to the target",
    )
