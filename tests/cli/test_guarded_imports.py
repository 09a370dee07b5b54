"""`import price-list` shows what it does to prices, and wants --force for prices that may be slips."""

from pathlib import Path

import pytest

from support.command_line import Forker, Program

HEADER = "price_list,sku,single_unit_cost\n"
ZERO = f"{HEADER}default,PHONE,0\n"
FOUND = "line 2: PHONE of price list default: single_unit_cost £50.00 -> £0.00 is free of charge"


@pytest.fixture(scope="module")
def tradecounter(database_url: str, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    found = Program(Path(tmp_path_factory.mktemp("prices")), database_url, forker)
    found.json("import", "manufacturers", "-", given="key,name\nacme,Acme\n")
    found.json("import", "products", "-", given="sku,name,manufacturer\nPHONE,Phone,acme\nCABLE,Cable,acme\n")
    found.json("import", "price-list", "-", given=f"{HEADER}default,PHONE,50\ndefault,CABLE,10\n")
    return found


@pytest.mark.sweep
def test_a_dry_run_shows_guarded_prices_and_succeeds(tradecounter: Program) -> None:
    told = tradecounter.run("import", "price-list", "-", "--dry-run", "--diff", given=ZERO)
    assert told.status == 0
    assert told.out.splitlines() == [
        "line 2: default PHONE changed: single_unit_cost 50.00 -> 0.00 (-100.00 %)",
        "0 would be added, 1 would be changed, 0 unchanged, 0 would be deactivated",
        "prices: 0 raised, 1 lowered (by 100.00 % at most); 0 customers are concerned",
    ]
    free = "is 0, so the product is free: leave it out of the list if its price is on request"
    assert told.err.splitlines() == [
        f"warning: line 2: single_unit_cost: {free} (sku PHONE)",
        f"guarded: {FOUND}",
        "note: 1 price is suspiciously low: the import wants --force",
    ]


def test_without_force_nothing_is_imported(tradecounter: Program) -> None:
    told = tradecounter.run("import", "price-list", "-", given=ZERO)
    assert (told.status, told.out) == (1, "")
    assert told.err.splitlines()[-2:] == [
        f"guarded: {FOUND}",
        "error: nothing was imported: 1 price is suspiciously low; --force imports them all the same",
    ]
    assert tradecounter.json("product", "show", "PHONE")["prices"][0]["single_unit_cost"] == 50
    told = tradecounter.run("import", "price-list", "-", "--json", given=ZERO)
    assert told.status == 1
    assert '"guarded":1' in told.out


def test_force_imports_them_and_a_roll_back_needs_none(tradecounter: Program) -> None:
    report = tradecounter.json("import", "price-list", "-", "--force", given=ZERO)
    assert {name: report[name] for name in ("raised", "lowered", "largest_fall", "guarded")} == {
        "raised": 0,
        "lowered": 1,
        "largest_fall": -100,
        "guarded": 1,
    }
    assert report["guarded_prices"] == [
        {
            "line": 2,
            "price_list": "default",
            "sku": "PHONE",
            "field": "single_unit_cost",
            "before": 50,
            "after": 0,
            "why": "is free of charge",
        }
    ]
    assert tradecounter.json("imports", "list")[0]["lowered"] == 1
    assert "prices: 1 raised, 0 lowered; 0 customers are concerned" in tradecounter.text(
        "imports", "roll-back", str(report["id"])
    )
