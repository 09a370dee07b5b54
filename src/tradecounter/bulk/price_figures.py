"""What an import does to prices: the figures of its report, and the prices that it changes only with `force`."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from tradecounter.kit.errors import DomainError, FieldError, Kind
from tradecounter.kit.money import in_pounds, rounded
from tradecounter.kit.wire import made_from

MOST_GUARDED = 20  # prices that a report names
BREAKS = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")


class GuardedPrice(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """A price that may be a slip: the break that falls most, before and after the import."""

    line: Annotated[int | None, Meta(description="Its line in the file.")]
    price_list: str | None = None
    customer_id: Annotated[int | None, Meta(description="Whose contract price it is.")] = None
    sku: str
    field: Annotated[str, Meta(description="The break.")]
    before: Annotated[Decimal | None, Meta(description="Absent for a first price.")] = None
    after: Decimal
    why: Annotated[str, Meta(description="Why it is guarded.")]

    @property
    def problem(self) -> str:
        """What is wrong with the break."""
        before = "" if self.before is None else f"{in_pounds(self.before)} -> "
        return f"{before}{in_pounds(self.after)} {self.why}"

    def __str__(self) -> str:
        owner = f"customer {self.customer_id}" if self.price_list is None else f"price list {self.price_list}"
        return f"{self.sku} of {owner}: {self.field} {self.problem}"


class UnknownPriceList(Struct, frozen=True):
    """A price list that has no prices yet and is no customer's."""

    price_list: str
    line: Annotated[int, Meta(description="The first line that names it.")]
    rows: Annotated[int, Meta(description="How many lines name it.")]

    def __str__(self) -> str:
        rows = f"{self.rows} row{'s' * (self.rows != 1)}"
        return f"price list {self.price_list} has no prices yet and is no customer's ({rows})"


class PriceChanges(Struct, frozen=True, kw_only=True):
    """What an import or a roll-back does to prices.

    A price with several breaks is raised when one of them rises, and lowered when one of them falls.

    Attributes:
        raised, lowered: how many prices rise and fall.
        largest_rise, largest_fall: in per cent, a fall below 0; None without one.
        customers: how many customers have a list, or a contract, with a price that changes.
    """

    raised: int
    lowered: int
    largest_rise: Decimal | None
    largest_fall: Decimal | None
    customers: int

    def changes(self) -> dict[str, Any]:
        """Return the figures by their names, as the history keeps them."""
        return asdict(made_from(self, PriceChanges))

    def __str__(self) -> str:
        rise = "" if self.largest_rise is None else f" (by {self.largest_rise} % at most)"
        fall = "" if self.largest_fall is None else f" (by {abs(self.largest_fall)} % at most)"
        customers = "1 customer is" if self.customers == 1 else f"{self.customers} customers are"
        return f"prices: {self.raised} raised{rise}, {self.lowered} lowered{fall}; {customers} concerned"


class PriceFigures(PriceChanges, frozen=True, kw_only=True):
    """What an import does to prices, and what of it needs `force`.

    Attributes:
        new_price_lists: lists that nobody knows.
        below_cost: how many prices that change end below the purchase cost, also those that rise.
        guarded: how many prices may be slips.
        guarded_prices: the first of them.
    """

    new_price_lists: Sequence[UnknownPriceList]
    below_cost: int
    guarded: int
    guarded_prices: Sequence[GuardedPrice]

    @property
    def want_force(self) -> bool:
        """Whether the import needs `force`."""
        return bool(self.guarded or self.new_price_lists)

    def reasons(self) -> list[FieldError]:
        """Return why the import needs `force`: the new lists and the guarded prices, at most MOST_GUARDED."""
        figures: tuple[UnknownPriceList | GuardedPrice, ...] = (*self.new_price_lists, *self.guarded_prices)
        return [FieldError(f"line {figure.line}", str(figure)) for figure in figures[:MOST_GUARDED]]

    @property
    def more(self) -> int:
        """How many reasons there are beyond those that are named."""
        return len(self.new_price_lists) + self.guarded - len(self.reasons())


class GuardedPricesError(DomainError):
    """An import of prices that needs `force`, and has not got it."""

    def __init__(self, figures: PriceFigures, forced_by: str) -> None:
        self.figures = figures
        self.summary = f"nothing was imported: {what_wants_force(figures)}; {forced_by} imports them all the same"
        reasons = figures.reasons()
        rest = f"; and {figures.more} more" if figures.more > 0 else ""
        message = f"{self.summary}: {'; '.join(map(str, reasons))}{rest}"
        super().__init__(Kind.CONFLICT, message, field_errors=reasons)


def what_wants_force(figures: PriceFigures) -> str:
    """Return how many prices and price lists want `force`, in words."""
    prices, lists = figures.guarded, len(figures.new_price_lists)
    parts = []
    if prices:
        parts.append(f"{prices} {'price is' if prices == 1 else 'prices are'} suspiciously low")
    if lists:
        parts.append(f"{lists} price {'list is' if lists == 1 else 'lists are'} new")
    return " and ".join(parts)


def largest_change(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Decimal | UnsetType:
    """Return the largest change of a price's breaks, in per cent; UNSET for other records, and without a change.

    A break that a price lacks has the cost of the next lower one.
    """
    if before is None or after is None or BREAKS[0] not in before or BREAKS[0] not in after:
        return UNSET
    changes = [
        (new - old) * 100 / old for old, new in zip(_filled(before), _filled(after), strict=True) if old and old != new
    ]
    return rounded(max(changes, key=abs)) if changes else UNSET


def _filled(costs: Mapping[str, Any]) -> list[Decimal]:
    filled: list[Decimal] = []
    for name in BREAKS:
        cost = costs.get(name)
        filled.append(filled[-1] if cost is None else Decimal(cost))
    return filled
