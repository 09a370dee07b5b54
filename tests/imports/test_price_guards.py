"""What an import does to prices is reported; prices that may be slips, and unknown lists, need `force`."""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from support.cluster import Cluster
from support.importing import Importer
from tradecounter.bulk.import_options import ImportReport
from tradecounter.bulk.price_figures import GuardedPricesError, PriceFigures
from tradecounter.imports.run import RolledBackImport, measure_roll_back, roll_back_import
from tradecounter.kit.errors import Kind
from tradecounter.prices.importing import imported_suspicion

BREAKS = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")
PEOPLE = [("default", None), ("gold", "gold"), ("silver", "silver"), ("also-gold", "gold")]


@pytest.fixture
def shop(postgres: Cluster, tmp_path: Path) -> Iterator[Importer]:
    """A shop with three products, of which two have a purchase cost, and four customers."""
    with postgres.database() as url:
        importer = Importer(url, tmp_path)
        importer.load("manufacturers", [{"name": "Acme", "key": "acme"}])
        products: list[dict[str, Any]] = [
            {"sku": "PHONE", "name": "Phone", "manufacturer": "acme", "purchase_cost": 60},
            {"sku": "CABLE", "name": "Cable", "manufacturer": "acme"},
            {"sku": "SWITCH", "name": "Switch", "manufacturer": "acme", "purchase_cost": 5},
        ]
        importer.load("products", products)
        importer.load("price-list", [price("PHONE", 100, 90, 80), price("CABLE", 10), price("SWITCH", 50)])
        importer.load("price-list", [price("PHONE", 95, name="gold"), price("PHONE", 99, name="silver")])
        importer.load(
            "customers",
            [
                {"email_address": f"{who}@x.example", "first_name": "A", "last_name": "B", "price_list": name}
                for who, name in PEOPLE
            ],
        )
        yield importer


def price(sku: str, *costs: float | str | None, name: str = "default") -> dict[str, Any]:
    return {"price_list": name, "sku": sku, **dict(zip(BREAKS, costs, strict=False))}


def contract(customer_id: int, sku: str, cost: float, valid_from: str | None = None) -> dict[str, Any]:
    return {"customer_id": customer_id, "sku": sku, "single_unit_cost": cost, "valid_from": valid_from}


def figures(report: ImportReport) -> PriceFigures:
    assert report.prices is not None
    return report.prices


def dry(shop: Importer, rows: list[dict[str, Any]], kind: str = "price-list", **options: Any) -> PriceFigures:
    return figures(shop.load(kind, rows, force=False, dry_run=True, **options))


def guarded(found: PriceFigures) -> list[str]:
    return [str(reason) for reason in found.reasons()]


def ids(shop: Importer) -> dict[str, int]:
    return {email.partition("@")[0]: one for one, email in shop.query("select id, email_address from customer")}


def test_the_report_says_what_rises_and_falls(shop: Importer) -> None:
    report = shop.load("price-list", [price("PHONE", 110, 90, 80), price("CABLE", 8), price("SWITCH", 50)], force=False)
    found = figures(report)
    assert (found.raised, found.lowered) == (1, 1)
    assert (found.largest_rise, found.largest_fall) == (Decimal("10.00"), Decimal("-20.00"))
    assert (found.guarded, found.guarded_prices, found.new_price_lists) == (0, [], [])
    assert shop.query(
        "select raised, lowered, largest_rise, largest_fall from import_run where id = %s", report.id
    ) == [(1, 1, Decimal("10.00"), Decimal("-20.00"))]


def test_a_price_with_one_break_up_and_one_down_is_both(shop: Importer) -> None:
    found = dry(shop, [price("PHONE", 110, 90, 72)])
    assert (found.raised, found.lowered, found.largest_rise, found.largest_fall) == (1, 1, Decimal(10), Decimal(-10))


def test_a_break_that_is_gone_has_the_price_of_the_next_lower_one(shop: Importer) -> None:
    found = dry(shop, [price("PHONE", 100)])
    assert (found.raised, found.lowered, found.largest_rise) == (1, 0, Decimal("25.00"))


def test_an_import_without_a_change_has_no_largest_change(shop: Importer) -> None:
    found = dry(shop, [price("CABLE", 10)])
    assert (found.raised, found.lowered, found.largest_rise, found.largest_fall, found.customers) == (
        0,
        0,
        None,
        None,
        0,
    )


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (price("CABLE", 4.99), "CABLE of price list default: single_unit_cost £10.00 -> £4.99 is more than half off"),
        (price("CABLE", 0), "CABLE of price list default: single_unit_cost £10.00 -> £0.00 is free of charge"),
        (
            price("PHONE", 59.99),
            "PHONE of price list default: single_unit_cost £100.00 -> £59.99 is below its purchase",
        ),
        (price("PHONE", 100, 90, 50), "PHONE of price list default: ten_plus_unit_cost £80.00 -> £50.00 is below its"),
        (
            price("CABLE", 10, None, 1),
            "CABLE of price list default: ten_plus_unit_cost £10.00 -> £1.00 is more than half",
        ),
        (
            price("SWITCH", 4, name="gold"),
            "SWITCH of price list gold: single_unit_cost £4.00 is below its purchase cost",
        ),
        (price("CABLE", 0, name="gold"), "CABLE of price list gold: single_unit_cost £0.00 is free of charge"),
        (price("CABLE", 5, name="glod"), "price list glod has no prices yet and is no customer's (1 row)"),
    ],
)
def test_a_price_that_may_be_a_slip_needs_force(row: dict[str, Any], reason: str, shop: Importer) -> None:
    before = shop.content()
    with pytest.raises(GuardedPricesError) as rejected:
        shop.load("price-list", [price("SWITCH", 50), row], force=False)
    assert rejected.value.kind is Kind.CONFLICT
    (found,) = rejected.value.field_errors
    assert found.field == "line 2"
    assert found.message.startswith(reason)
    assert f"--force imports them all the same: line 2: {reason}" in rejected.value.message
    assert shop.content() == before
    assert guarded(dry(shop, [price("SWITCH", 50), row])) == [str(found)]
    assert shop.content() == before
    assert not shop.load("price-list", [price("SWITCH", 50), row]).errors


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    "row",
    [
        price("CABLE", 5),
        price("PHONE", 60),
        price("CABLE", 1, name="gold"),  # a first price, which nothing says is wrong
        price("CABLE", 500),
        price("SWITCH", 5, name="gold"),
    ],
)
def test_other_changes_need_no_force(row: dict[str, Any], shop: Importer) -> None:
    report = shop.load("price-list", [row], force=False)
    assert (report.added + report.changed, figures(report).guarded) == (1, 0)


def test_prices_that_are_below_cost_already_may_stay_or_rise(shop: Importer) -> None:
    shop.load("price-list", [price("PHONE", 30)])
    shop.load("price-list", [price("PHONE", 30), price("CABLE", 11)], force=False)
    shop.load("price-list", [price("PHONE", 31)], force=False)
    with pytest.raises(GuardedPricesError):
        shop.load("price-list", [price("PHONE", "30.99")], force=False)


def test_a_raised_purchase_cost_and_the_recommended_price_are_not_guarded(shop: Importer) -> None:
    report = shop.load("products", [{"sku": "PHONE", "purchase_cost": 500, "consumer_unit_cost": 1}], force=False)
    assert (report.changed, report.prices) == (1, None)


def test_a_list_that_is_a_customers_or_had_prices_is_known(shop: Importer) -> None:
    shop.load("price-list", [price("CABLE", 7, name="bronze")])
    shop.load("price-list", [price("CABLE", 7, name="bronze"), price("PHONE", 99, name="bronze")], force=False)
    # All its prices are in another file now.
    shop.load("price-list", [price("SWITCH", 60, name="bronze")], replace=True, force=False)
    shop.change("delete from price where price_list = 'silver'")
    shop.load("price-list", [price("PHONE", 98, name="silver")], force=False)


def test_new_lists_and_their_rows_are_counted(shop: Importer) -> None:
    rows = [price("CABLE", 5, name="new"), price("CABLE", 5, name="other"), price("PHONE", 99, name="new")]
    found = dry(shop, rows)
    assert guarded(found) == [
        "line 1: price list new has no prices yet and is no customer's (2 rows)",
        "line 2: price list other has no prices yet and is no customer's (1 row)",
    ]
    with pytest.raises(GuardedPricesError, match="nothing was imported: 2 price lists are new; --force"):
        shop.load("price-list", rows, force=False)


def test_at_most_twenty_prices_are_named_and_all_are_counted(shop: Importer) -> None:
    skus = [f"S{number:02}" for number in range(25)]
    shop.load("products", [{"sku": sku, "name": sku, "manufacturer": "acme"} for sku in skus])
    shop.load("price-list", [price(sku, 10) for sku in skus])
    with pytest.raises(GuardedPricesError, match=r"25 prices are suspiciously low.*; and 5 more$") as rejected:
        shop.load("price-list", [price(sku, 1) for sku in skus], force=False)
    found = rejected.value.figures
    assert (found.guarded, found.more) == (25, 5)
    assert [row.line for row in found.guarded_prices or ()] == list(range(1, 21))


def test_customers_are_those_of_the_list_and_of_default_those_whose_list_lacks_the_product(shop: Importer) -> None:
    assert dry(shop, [price("PHONE", 101, name="gold")]).customers == 2
    assert dry(shop, [price("PHONE", 101)]).customers == 1
    assert dry(shop, [price("CABLE", 11)]).customers == 4
    assert dry(shop, [price("CABLE", 11), price("PHONE", 94, name="gold")]).customers == 4
    # A price that `replace` deletes concerns customers too.
    replaced = shop.load("price-list", [price("CABLE", 9, name="gold")], replace=True, force=False)
    assert (replaced.deactivated, figures(replaced).customers) == (1, 2)


def test_the_rows_of_a_contract_are_guarded(shop: Importer) -> None:
    gold = ids(shop)["gold"]
    shop.load("contract-prices", [contract(gold, "CABLE", 9)])
    rows = [contract(gold, "CABLE", 4), contract(gold, "PHONE", 59), contract(gold, "SWITCH", 6)]
    found = dry(shop, rows, "contract-prices")
    assert guarded(found) == [
        f"line 1: CABLE of customer {gold}: single_unit_cost £9.00 -> £4.00 is more than half off its price of £9.00",
        f"line 2: PHONE of customer {gold}: single_unit_cost £59.00 is below its purchase cost of £60.00",
    ]
    assert (found.lowered, found.customers) == (1, 1)


def test_a_price_for_another_period_is_compared_with_that_of_the_period_before(shop: Importer) -> None:
    gold, silver = ids(shop)["gold"], ids(shop)["silver"]
    stored = [("2025-01-01", 40), ("2026-01-01", 100), ("2027-01-01", 10)]
    shop.load("contract-prices", [contract(gold, "CABLE", cost, day) for day, cost in stored])
    assert guarded(dry(shop, [contract(gold, "CABLE", 49, "2026-06-01")], "contract-prices"))
    assert not guarded(dry(shop, [contract(gold, "CABLE", 50, "2026-06-01")], "contract-prices"))
    assert not guarded(dry(shop, [contract(gold, "CABLE", 9, "2028-01-01")], "contract-prices"))
    assert guarded(dry(shop, [contract(gold, "CABLE", 19)], "contract-prices"))  # before all others
    assert not guarded(dry(shop, [contract(gold, "CABLE", 20)], "contract-prices"))
    assert guarded(dry(shop, [contract(gold, "CABLE", 4, "2027-01-01")], "contract-prices"))
    assert not guarded(dry(shop, [contract(silver, "CABLE", 1)], "contract-prices"))


def known(cost: str | None) -> Decimal | None:
    return None if cost is None else Decimal(cost)


def test_the_database_finds_the_prices_that_the_rule_says(shop: Importer) -> None:
    costs = ["0", "0.01", "49.99", "50", "60", "99.99", "100"]
    cases = list(product([None, *costs], costs, [None, "0", "50", "60"]))
    rows = [
        {"sku": f"C{number}", "name": "C", "manufacturer": "acme", "purchase_cost": purchase}
        for number, (_, _, purchase) in enumerate(cases)
    ]
    shop.load("products", rows)
    shop.load("price-list", [price(f"C{n}", before) for n, (before, _, _) in enumerate(cases) if before is not None])
    found = dry(shop, [price(f"C{number}", after) for number, (_, after, _) in enumerate(cases)])
    slips = [
        number
        for number, (before, after, purchase) in enumerate(cases)
        if imported_suspicion(Decimal(after), known(before), known(purchase)) is not None
    ]
    assert found.guarded == len(slips)
    assert [row.sku for row in found.guarded_prices or ()] == [f"C{number}" for number in slips[:20]]


def roll_back(shop: Importer, report: ImportReport) -> RolledBackImport:
    assert report.id is not None
    return shop.change_by(partial(roll_back_import, import_id=report.id, now=datetime.now(UTC)))


def test_a_roll_back_says_what_it_does_to_prices_and_needs_no_force_for_them(shop: Importer) -> None:
    wrong = shop.load("price-list", [price("PHONE", 300), price("CABLE", 5), price("CABLE", 8, name="gold")])
    assert wrong.id is not None
    cables = "select count(*) from price join product p on p.id = product_id where sku = 'CABLE'"
    measured = shop.change_by(partial(measure_roll_back, import_id=wrong.id, now=datetime.now(UTC)))
    assert shop.query(cables) == [(2,)], "to measure changes nothing"
    done = roll_back(shop, wrong)
    assert measured is not None
    assert (done.raised, done.lowered, done.customers) == (1, 1, 4)
    assert (done.largest_rise, done.largest_fall) == (Decimal("100.00"), Decimal("-73.33"))
    assert (measured.raised, measured.lowered, measured.guarded) == (1, 1, 1)
    assert shop.query("select single_unit_cost from price join product p on p.id = product_id where sku = 'CABLE'") == [
        (Decimal("10.00"),)
    ]


def test_a_price_of_0_is_warned_of(shop: Importer) -> None:
    report = shop.load_text(
        "price-list", "price_list,sku,single_unit_cost\ndefault,CABLE,0\n", dry_run=True, force=False
    )
    [warning] = report.warnings
    assert warning.line == 2
    assert warning.message.startswith("single_unit_cost: is 0, so the product is free")
    assert warning.message.endswith("(sku CABLE)")
    assert guarded(figures(report)) == [
        "line 2: CABLE of price list default: single_unit_cost £10.00 -> £0.00 is free of charge"
    ]


def test_errors_of_prices_name_the_sku_and_the_value(shop: Importer) -> None:
    rows = [
        price("CABLE", "-1"),
        price("GONE", 5),
        price("PHONE", "1.005"),
        price("PHONE", 5),
    ]
    report = shop.load("price-list", rows, force=False)
    assert [(error.line, error.message) for error in report.errors] == [
        (1, "single_unit_cost: must be a number between 0 and 1000000, not -1 (sku CABLE)"),
        (2, 'sku: product "GONE" does not exist'),
        (3, "single_unit_cost: '1.005' has more than 2 decimal places (sku PHONE)"),
        (4, "repeats line 3 (sku PHONE)"),
    ]
    assert report.prices is None
    contracts = shop.load("contract-prices", [contract(999, "CABLE", 5)], force=False)
    assert [error.message for error in contracts.errors] == ["customer_id: customer 999 does not exist (sku CABLE)"]
