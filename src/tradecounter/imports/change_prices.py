"""Changes prices of a list by a rule, as an import of the kind `price-list` whose rows the rule makes."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, get_args

from msgspec import Meta, Struct

from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.importing import lock_records
from tradecounter.bulk.rows import Row, RowMessage
from tradecounter.bulk.statements import stored_keys
from tradecounter.db.transaction import Transaction
from tradecounter.imports.run import import_in_transaction
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.keys import Spellings
from tradecounter.kit.numbers import Percent, Pounds
from tradecounter.kit.text import plural
from tradecounter.prices.importing import PRICE_LIST, PriceRow
from tradecounter.prices.queries.prices_of_products import NO_PRICE, CostedPrice, costed_prices_of
from tradecounter.prices.rules import How, PriceRule, Rounding
from tradecounter.products.find_products import Catalogue, list_products
from tradecounter.products.queries.products import ProductFilter, ProductSummary, Shown, products_after

HOWS: tuple[How, ...] = get_args(How)
ROUNDINGS: tuple[Rounding, ...] = get_args(Rounding)
_DEFAULT = "default"
_BELOW: Mapping[How, int] = {
    "raise_percent": 1_000,
    "lower_percent": 100,
    "raise_amount": 1_000_000,
    "lower_amount": 1_000_000,
    "margin": 100,
}
_SAID: Mapping[How, str] = {
    "raise_percent": "+{} %",
    "lower_percent": "-{} %",
    "raise_amount": "+£{}",
    "lower_amount": "-£{}",
    "margin": "margin {} %",
}
_SAID_OF_ROUNDING: Mapping[Rounding, str] = {
    "penny": "",
    "pound": ", to whole pounds",
    "ninety_five": ", to .95",
    "ninety_nine": ", to .99",
}
_AT_ONCE = 2_000  # products, so that the event loop runs in between


class PriceChange(Struct, frozen=True, kw_only=True):
    """A rule for the prices of a list, and a filter of products; a product must match all parts of the filter."""

    price_list: Annotated[str, Meta(description="The price list whose prices change.", examples=["default"])] = _DEFAULT
    query: Annotated[str | None, Meta(description="Only products that a search for these words finds.")] = None
    manufacturer: Annotated[
        str | None,
        Meta(description="Only products of this manufacturer, by its key or its name.", examples=["corvane"]),
    ] = None
    category: Annotated[
        str | None,
        Meta(description="Only products of this category and those below it, by its key or its name."),
    ] = None
    show: Annotated[
        Shown | None, Meta(description="Only these products, as in the list of products.", examples=["below_cost"])
    ] = None
    raise_percent: Annotated[Percent | None, Meta(description="Raise prices by so many per cent.", examples=[5])] = None
    lower_percent: Annotated[Percent | None, Meta(description="Lower prices by so many per cent.")] = None
    raise_amount: Annotated[Pounds | None, Meta(description="Raise prices by so many pounds.")] = None
    lower_amount: Annotated[Pounds | None, Meta(description="Lower prices by so many pounds.")] = None
    margin: Annotated[
        Percent | None,
        Meta(
            description="Set the price of one unit so that it leaves this margin above `purchase_cost`, in per cent of "
            "the price; breaks keep their proportion to it. Products without `purchase_cost` stay as they are."
        ),
    ] = None
    rounding: Annotated[
        Rounding,
        Meta(
            description="`penny`: to whole pence, half up; otherwise to the nearest amount that ends with .00 "
            "(`pound`), .95 or .99."
        ),
    ] = "penny"
    first_prices: Annotated[
        bool, Meta(description="With `margin`: also products that have no price on the list yet.")
    ] = False

    @property
    def rule(self) -> PriceRule:
        """The rule. Raises DomainError (invalid)."""
        ways = [how for how in HOWS if getattr(self, how) is not None]
        if len(ways) != 1:
            raise DomainError(Kind.INVALID, "say one change of prices: a rise, a fall or a margin")
        how, by = ways[0], getattr(self, ways[0])
        if not (by.is_finite() and 0 <= by < _BELOW[how]):
            raise invalid(how, f"must be at least 0 and below {_BELOW[how]:,}")
        if self.first_prices and how != "margin":
            raise invalid("first_prices", "is only for a margin: other changes begin with a price")
        return PriceRule(how, by, self.rounding)

    def __str__(self) -> str:
        """The rule in words. Raises DomainError (invalid)."""
        rule = self.rule
        chosen = [
            part for part in (self.query, self.manufacturer, self.category, (self.show or "").replace("_", " ")) if part
        ]
        of = f" ({', '.join(chosen)})" if chosen else ""
        change = _SAID[rule.how].format(f"{rule.by:f}")
        return f"{self.price_list}{of}: {change}{_SAID_OF_ROUNDING[rule.rounding]}"


class ForcedPriceChange(PriceChange, frozen=True, kw_only=True):
    """A rule for prices, and whether it may also change them as its guard forbids."""

    force: Annotated[bool, Meta(description="Change also prices that may be slips.")] = False


class RuledPrices(Struct, frozen=True):
    """The prices that a rule makes, unchanged ones included, and what it leaves out, in words."""

    rows: Sequence[PriceRow]
    left_out: Sequence[str]


async def ruled_prices(tx: Transaction, wanted: PriceChange, memory: Catalogue | None) -> RuledPrices:
    """Return the prices that a rule makes from the stored ones. Raises DomainError (invalid).

    Raises TypeError for a change with a `query` without the catalogue in memory.
    """
    rule = wanted.rule
    keys = await stored_keys(tx, "price_list")
    price_list = Spellings(keys).of(wanted.price_list)
    if price_list not in {_DEFAULT, *keys}:
        raise invalid("price_list", "does not exist")
    product_filter = ProductFilter(
        manufacturer=wanted.manufacturer or None, category=wanted.category or None, show=wanted.show
    )
    making, after = _PriceMaker(rule, price_list, wanted.first_prices), ""
    while True:
        if not wanted.query:
            products = await products_after(tx, after, _AT_ONCE, product_filter)
        elif memory is None:
            raise TypeError("a change with a query needs the catalogue in memory")
        else:
            products = await list_products(tx, memory, wanted.query, product_filter, after, _AT_ONCE)
        if not products:
            return making.made()
        prices = await costed_prices_of(tx, price_list, [product.sku_key for product in products])
        await asyncio.to_thread(making.add, products, prices)
        after = products[-1].sku_key


async def change_prices(
    tx: Transaction, wanted: PriceChange, memory: Catalogue | None, options: ImportOptions, now: datetime
) -> ImportReport:
    """Change prices by a rule. Raises DomainError: invalid, and those of the import of a price list."""
    await lock_records(tx, PRICE_LIST)  # so that no price changes between its reading and its import
    made = await ruled_prices(tx, wanted, memory)
    rows = (Row(number, row) for number, row in enumerate(made.rows, start=1))
    report = await import_in_transaction(tx, "price-list", rows, options, now=now)
    if report.errors:
        raise DomainError(Kind.INVALID, f"nothing was changed: {report.errors[0].message}")
    report.warnings[:0] = [RowMessage(None, "", left_out) for left_out in made.left_out]
    return report


class _PriceMaker(Struct):
    """The prices that a rule has made so far."""

    rule: PriceRule
    price_list: str
    first_prices: bool
    rows: list[PriceRow] = []
    negative: list[str] = []
    products: int = 0
    without_price: int = 0
    without_cost: int = 0

    def add(self, products: Sequence[ProductSummary], prices: Mapping[str, CostedPrice]) -> None:
        self.products += len(products)
        for product in products:
            old = prices.get(product.sku_key, NO_PRICE)
            if old.single_unit_cost is None and not self.first_prices:
                self.without_price += 1
                continue
            before = (old.single_unit_cost, old.five_plus_unit_cost, old.ten_plus_unit_cost)
            costs = self.rule.costs(before, old.purchase_cost)
            if costs is None:
                self.without_cost += 1
            elif any(cost is not None and cost < 0 for cost in costs):
                self.negative.append(product.sku)
            else:
                single, five_plus, ten_plus = costs
                self.rows.append(
                    PriceRow(
                        price_list=self.price_list,
                        sku=product.sku,
                        single_unit_cost=single,
                        five_plus_unit_cost=five_plus,
                        ten_plus_unit_cost=ten_plus,
                    )
                )

    def made(self) -> RuledPrices:
        """Return the prices. Raises DomainError (invalid)."""
        if self.negative:
            lowered = plural(len(self.negative), "price")
            raise invalid(self.rule.how, f"makes {lowered} less than nothing, such as {self.negative[0]}")
        if not self.rows:
            raise DomainError(Kind.INVALID, self._nothing)
        left_out = (self.without_price, "not on the price list"), (self.without_cost, "without a purchase cost")
        return RuledPrices(
            self.rows, [f"{plural(count, 'product')} {why} left out" for count, why in left_out if count]
        )

    @property
    def _nothing(self) -> str:
        if not self.products:
            return "no product matches"
        if self.without_cost:
            return "no product that matches has a purchase cost"
        return "no product that matches is on the list"
