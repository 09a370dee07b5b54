"""`price change`: prices of a list that change by a rule."""

from pathlib import Path

import pytest

from support.command_line import Forker, Program


@pytest.fixture(scope="module")
def tradecounter(database_url: str, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    found = Program(Path(tmp_path_factory.mktemp("prices")), database_url, forker)
    found.json("import", "manufacturers", "-", given="key,name\nacme,Acme\nbolt,Bolt\n")
    found.json("import", "products", "-", given="sku,name,manufacturer\nPHONE,Phone,acme\nCABLE,Cable,bolt\n")
    given = "price_list,sku,single_unit_cost,ten_plus_unit_cost\ndefault,PHONE,50,45\ndefault,CABLE,10,\n"
    found.json("import", "price-list", "-", given=given)
    return found


def prices(program: Program, sku: str) -> list[float]:
    [found] = program.json("product", "show", sku)["prices"]
    return [found["single_unit_cost"], found["ten_plus_unit_cost"]]


def test_a_dry_run_lists_old_and_new_prices(tradecounter: Program) -> None:
    told = tradecounter.run("price", "change", "--manufacturer", "acme", "--raise-percent", "5%", "--dry-run")
    assert told.status == 0
    assert told.out.splitlines() == [
        "line 1: default PHONE changed: single_unit_cost 50.00 -> 52.50, ten_plus_unit_cost 45.00 -> 47.25 (+5.00 %)",
        "0 would be added, 1 would be changed, 0 unchanged, 0 would be deactivated",
        "prices: 1 raised (by 5.00 % at most), 0 lowered; 0 customers are concerned",
    ]
    assert prices(tradecounter, "PHONE") == [50, 45]


def test_a_change_wants_force_for_prices_that_may_be_slips(tradecounter: Program) -> None:
    rule = ("price", "change", "--manufacturer", "bolt", "--lower-percent", "60", "--rounding", "ninety_nine")
    told = tradecounter.run(*rule)
    assert (told.status, told.out) == (1, "")
    assert told.err.splitlines()[-1].endswith("--force imports them all the same")
    assert tradecounter.json(*rule, "--force")["lowered"] == 1
    assert prices(tradecounter, "CABLE") == [3.99, None]
    made = tradecounter.json("imports", "list")[0]
    tradecounter.json("imports", "roll-back", str(made["id"]))
    assert prices(tradecounter, "CABLE") == [10, None]


def test_a_rule_is_needed(tradecounter: Program) -> None:
    told = tradecounter.run("price", "change")
    assert (told.status, told.err) == (1, "error: say one change of prices: a rise, a fall or a margin\n")


def test_a_price_that_is_too_high_changes_nothing_and_fails(tradecounter: Program) -> None:
    told = tradecounter.run("price", "change", "--raise-amount", "999999", "--force")
    assert (told.status, told.out) == (1, "")
    assert told.err.startswith("error: nothing was changed: single_unit_cost: must be")
    assert (prices(tradecounter, "PHONE")[0], prices(tradecounter, "CABLE")[0]) == (50, 10)
