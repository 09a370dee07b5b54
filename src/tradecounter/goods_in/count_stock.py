"""Compares counts with the stock, and adjusts the stock to them."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from tradecounter.db.transaction import Transaction
from tradecounter.goods_in.queries import products_named
from tradecounter.kit.errors import DomainError, Kind, invalid, require_text
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import LONGEST_REASON, and_more, shown_name
from tradecounter.orders.adjust_stock import MOST_ON_HAND, Adjustment, adjust_stock
from tradecounter.orders.create.quick_lines import BadLine, LineRules, numbered_quick_lines, require_good_lines
from tradecounter.orders.queries.back_orders import lock_waiting_orders
from tradecounter.stock.queries.stock import lock_levels

MOST_COUNTED = 5_000  # products
_LARGE_UNITS, _LARGE_PART = 5, 4  # a large difference has at least 5 units, and a quarter of what is expected
_MOST_NAMED = 10  # in an error
_RULES = LineRules(
    least_units=0,
    most_units=MOST_ON_HAND,
    most_lines=MOST_COUNTED,
    too_many=f"is one too many: a count has at most {MOST_COUNTED:,} lines",
    without_units=None,
)


class Counted(Struct, frozen=True):
    """A product's units as counted, how many should have been there, and how many are allocated to orders."""

    sku: str
    expected: int
    counted: int
    allocated: int

    @property
    def difference(self) -> int:
        """The units that are there beyond what was expected; below 0, those that are missing."""
        return self.counted - self.expected

    @property
    def is_large(self) -> bool:
        """Whether the difference is more likely a slip than a loss: at least 5 units and a quarter of the shelf."""
        return abs(self.difference) >= max(_LARGE_UNITS, self.expected / _LARGE_PART)

    @property
    def fits(self) -> bool:
        """Whether the units that were counted are enough for the orders that they are allocated to."""
        return self.counted >= self.allocated


def read_count_lines(text: str) -> dict[str, int]:
    """Return the units of each SKU of lines such as `ACME-100, 12`. A line without a number is left out.

    Raises DomainError (invalid), which names the lines that cannot be read, or that name a product again.
    """
    lines, bad = numbered_quick_lines(text, _RULES)
    first: dict[str, int] = {}
    for line in lines:
        if (before := first.setdefault(key_form(line.sku), line.number)) != line.number:
            bad.append(BadLine(line.number, f"names {line.sku[:40]} again, after line {before}"))
    require_good_lines(bad)
    if not lines:
        raise invalid("lines", "has no line of a SKU and a number")
    return {line.sku: line.units for line in lines}


def counts_of(items: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return the units of each SKU. Raises DomainError (invalid): a product is there twice."""
    first: dict[str, int] = {}
    for number, (sku, _) in enumerate(items):
        if first.setdefault(key_form(sku), number) != number:
            raise invalid(f"items[{number}].sku", f"{sku[:40]} is there twice")
    return dict(items)


async def compare_count(tx: Transaction, counts: dict[str, int]) -> list[Counted]:
    """Return the products whose number on hand differs from the count. Locks their stock until the transaction ends.

    The count is by SKU or EAN. Raises DomainError (invalid), which names all that is unknown, or a product that is
    there by both.
    """
    products = await products_named(tx, list(counts))
    unknown = [shown_name(name) for name in counts if name not in products]
    if unknown:
        raise DomainError(Kind.INVALID, f"no product has the SKU or EAN {and_more(unknown, _MOST_NAMED)}")
    skus = [sku for _, sku in products.values()]
    if len(set(skus)) < len(skus):
        [(twice, _)] = Counter(skus).most_common(1)
        raise DomainError(Kind.INVALID, f"{twice} is there twice, by its SKU and by its EAN")
    await lock_waiting_orders(tx)
    levels = await lock_levels(tx, [product_id for product_id, _ in products.values()])
    compared = [
        Counted(sku, levels[product_id].on_hand, counts[name], levels[product_id].allocated)
        for name, (product_id, sku) in products.items()
    ]
    return [each for each in compared if each.difference]


async def enter_count(tx: Transaction, differing: Sequence[Counted], reason: str, now: datetime) -> None:
    """Set the units on hand of the products that `compare_count` returned.

    Raises DomainError: invalid (the reason), conflict (fewer units than are allocated to orders), or as `adjust_stock`
    does.
    """
    reason = require_text("reason", reason, LONGEST_REASON)
    require_fitting(differing)
    if differing:
        await adjust_stock(tx, [Adjustment(sku=each.sku, set=each.counted, reason=reason) for each in differing], now)


def require_fitting(differing: Sequence[Counted]) -> None:
    """Raise DomainError (conflict), which names the products, if fewer units were counted than are allocated."""
    short = [f"{each.sku} ({each.counted} of {each.allocated})" for each in differing if not each.fits]
    if short:
        raise DomainError(
            Kind.CONFLICT,
            f"fewer units were counted than are allocated to orders: {and_more(short, _MOST_NAMED)}. "
            "Cancel or amend these orders first, or count again",
        )
