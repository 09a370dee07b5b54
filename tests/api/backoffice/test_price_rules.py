"""`POST /api/price-change`: prices of a list that change by a rule, as an import."""

from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.orders import rows, sell

_COSTS = "select {} from price join product p on p.id = product_id where sku = %s and price_list = %s"


def costs_of(office: BackOfficeSite, sku: str, price_list: str = "default") -> list[str]:
    columns = "single_unit_cost, five_plus_unit_cost, ten_plus_unit_cost"
    return [str(cost) for found in rows(office.service, _COSTS.format(columns), sku, price_list) for cost in found]


def change(staff: httpx2.Client, at: str = "", **rule: Any) -> httpx2.Response:
    return staff.post(f"/api/price-change{at}", json=rule)


def make(office: BackOfficeSite, *skus: str, maker: str, cost: Any = 10, **values: Any) -> None:
    """Products of a manufacturer of their own."""
    office.service.must_load("manufacturers", [{"key": maker, "name": f"{maker.capitalize()} Ltd"}])
    for sku in skus:
        sell(office.service, sku, cost, manufacturer=maker, **values)


def test_a_dry_run_shows_old_and_new_prices_and_changes_nothing(staff: httpx2.Client, office: BackOfficeSite) -> None:
    make(office, "RULE-A", "RULE-B", maker="ruled")
    rule: dict[str, Any] = {"manufacturer": "ruled ltd", "raise_percent": 5, "rounding": "ninety_nine"}
    report = change(staff, "?dry_run=true", **rule).json()
    assert (report["id"], report["changed"], report["raised"], report["largest_rise"]) == (None, 2, 2, 9.9)
    assert [(each["before"]["single_unit_cost"], each["after"]["single_unit_cost"]) for each in report["diff"]] == [
        (10, 10.99)
    ] * 2
    assert costs_of(office, "RULE-A") == ["10.00", "None", "None"]

    made = change(staff, **rule).json()
    assert costs_of(office, "RULE-A") == ["10.99", "None", "None"]
    [entry] = staff.get(f"/api/audit?subject=import/{made['id']}").json()
    assert entry["after"]["rule"] == "default (ruled ltd): +5 %, to .99"
    assert staff.post(f"/api/import/{made['id']}/roll-back").status_code == 200
    assert costs_of(office, "RULE-A") == ["10.00", "None", "None"]


def test_a_rule_is_for_the_products_that_match(staff: httpx2.Client, office: BackOfficeSite) -> None:
    office.service.must_load(
        "categories", [{"key": "racks", "name": "Racks", "children": [{"key": "shelves", "name": "Shelves"}]}]
    )
    make(office, "RULE-C", maker="matched", categories=["shelves"], name="Shelf quokka")
    make(office, "RULE-D", maker="matched", categories=["racks"], name="Rack quokka")
    make(office, "RULE-E", maker="matched", name="Loose quokka")
    assert change(staff, category="shelves", raise_amount=1).json()["changed"] == 1
    assert change(staff, category="racks", raise_amount=1).json()["changed"] == 2
    assert change(staff, query="quokka", manufacturer="matched", raise_amount=1).json()["changed"] == 3
    assert change(staff, query="quokka", category="RACKS", raise_amount=1).json()["changed"] == 2
    found = [costs_of(office, sku)[0] for sku in ("RULE-C", "RULE-D", "RULE-E")]
    assert found == ["14.00", "13.00", "11.00"]


def test_a_margin_leaves_products_without_a_cost_out(staff: httpx2.Client, office: BackOfficeSite) -> None:
    make(office, "RULE-F", maker="margined", purchase_cost=30, cost=50)
    make(office, "RULE-G", maker="margined", cost=50)
    office.service.must_load(
        "products", [{"sku": "RULE-H", "name": "New", "manufacturer": "margined", "purchase_cost": 6}]
    )
    report = change(staff, manufacturer="margined", margin=25).json()
    assert (report["changed"], report["added"]) == (1, 0)
    assert [each["message"] for each in report["warnings"]] == [
        "1 product not on the price list left out",
        "1 product without a purchase cost left out",
    ]
    assert costs_of(office, "RULE-F")[0] == "40.00"
    report = change(staff, manufacturer="margined", margin=25, first_prices=True).json()
    assert (report["changed"], report["added"], report["unchanged"]) == (0, 1, 1)
    assert costs_of(office, "RULE-H") == ["8.00", "None", "None"]


def test_prices_that_may_be_slips_want_force(staff: httpx2.Client, office: BackOfficeSite) -> None:
    make(office, "RULE-I", maker="guarded", purchase_cost=9)
    refused = change(staff, manufacturer="guarded", lower_percent=20)
    assert refused.status_code == 409
    assert "is below its purchase cost of £9.00" in refused.json()["message"]
    assert change(staff, "?dry_run=true", manufacturer="guarded", lower_percent=20).json()["below_cost"] == 1
    assert costs_of(office, "RULE-I")[0] == "10.00"
    assert change(staff, manufacturer="guarded", lower_percent=20, force=True).status_code == 200
    assert costs_of(office, "RULE-I")[0] == "8.00"
    raised = change(staff, manufacturer="guarded", raise_amount=0.5).json()
    assert (raised["below_cost"], raised["guarded"]) == (1, 0)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({}, "say one change of prices: a rise, a fall or a margin"),
        ({"raise_percent": 5, "margin": 5}, "say one change of prices: a rise, a fall or a margin"),
        ({"lower_percent": 100}, "lower_percent: must be at least 0 and below 100"),
        ({"raise_amount": -1}, "raise_amount: must be at least 0 and below 1,000,000"),
        (
            {"lower_amount": 11, "manufacturer": "unruled"},
            "lower_amount: makes 1 price less than nothing, such as RULE-J",
        ),
        ({"raise_percent": 5, "price_list": "nonesuch"}, "price_list: does not exist"),
        ({"raise_percent": 5, "manufacturer": "nonesuch"}, "no product matches"),
        (
            {"raise_percent": 5, "first_prices": True},
            "first_prices: is only for a margin: other changes begin with a price",
        ),
        ({"margin": 5, "manufacturer": "unruled"}, "no product that matches has a purchase cost"),
    ],
)
def test_a_rule_that_cannot_be_followed_changes_nothing(
    staff: httpx2.Client, office: BackOfficeSite, rule: dict[str, Any], message: str
) -> None:
    make(office, "RULE-J", maker="unruled")
    refused = change(staff, **rule)
    assert (refused.status_code, refused.json()["message"]) == (400, message)
    assert costs_of(office, "RULE-J")[0] == "10.00"
