"""`/price-change`: a rule for prices, what it would change, and its import."""

import pytest

from support.backoffice import BackOfficeSite
from support.import_files import SENT, applied, finished
from support.orders import rows, sell
from support.pages import Person, staff_member, text_of


@pytest.fixture(scope="module")
def catalogue(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "catalogue")


def cost_of(office: BackOfficeSite, sku: str) -> str:
    statement = "select single_unit_cost from price join product p on p.id = product_id where sku = %s"
    return str(rows(office.service, statement, sku)[0][0])


def test_a_rule_shows_old_and_new_prices_and_is_applied_as_an_import(office: BackOfficeSite, catalogue: Person) -> None:
    office.service.must_load("manufacturers", [{"key": "wombat", "name": "Wombat"}])
    sku = sell(office.service, "BY-RULE", 20, manufacturer="wombat", purchase_cost=30)
    assert 'href="/price-change"' in catalogue.get("/product").text
    rule = {
        "price_list": "default",
        "manufacturer": "wombat",
        "how": "raise_percent",
        "by": "10%",
        "rounding": "ninety_five",
    }
    sent = catalogue.send("/price-change", rule)
    path = sent.headers["Location"]
    page = finished(catalogue, path)
    shown = text_of(page)
    for part in (
        "default (wombat): +10 %, to .95",
        "1 Changed",
        "£20.00 → £21.95",
        "+9.75%",
        "1 Below cost",
        "Apply 1 change",
    ):
        assert part in shown
    assert "Read the file differently" not in shown
    assert cost_of(office, sku) == "20.00"
    back = catalogue.get(page.text.split('">Change the rule')[0].rpartition('href="')[2].replace("&amp;", "&"))
    assert 'value="10%"' in back.text
    assert '<option value="wombat" selected>' in back.text
    one = applied(catalogue, path)
    assert cost_of(office, sku) == "21.95"
    assert "£20.00 → £21.95" in text_of(catalogue.get(one))
    assert "default (wombat): +10 %, to .95" in text_of(catalogue.get(one))


def test_prices_that_have_changed_since_they_were_shown_are_not_overwritten(
    office: BackOfficeSite, catalogue: Person
) -> None:
    office.service.must_load("manufacturers", [{"key": "yak", "name": "Yak"}])
    sku = sell(office.service, "SHOWN-BEFORE", 20, manufacturer="yak")
    rule = {"manufacturer": "yak", "how": "raise_percent", "by": "10"}
    paths = [catalogue.send("/price-change", rule).headers["Location"] for _ in range(2)]
    for path in paths:
        finished(catalogue, path)
    applied(catalogue, paths[0])
    price = {"price_list": "default", "sku": sku, "single_unit_cost": 18}
    office.service.must_load("price-list", [price])
    assert catalogue.send(f"{paths[1]}/apply", SENT).headers["Location"] == paths[1]
    page = finished(catalogue, paths[1])
    assert "Prices have changed since this was shown; nothing is applied" in text_of(page)
    assert "Change the rule" in text_of(page)
    assert cost_of(office, sku) == "18.00"


def test_what_is_wrong_with_a_rule_is_beside_its_field(catalogue: Person) -> None:
    for by, message in (
        ("", "Is required"),
        ("much", "is not a percentage such as 12.5%"),
        ("1000", "Must be at least 0 and below 1,000"),
    ):
        refused = catalogue.send("/price-change", {"how": "raise_percent", "by": by})
        assert refused.status_code == 400
        assert message in text_of(refused)
        assert "form-by-error" in refused.text
    refused = catalogue.send("/price-change", {"how": "raise_percent", "by": "1", "query": "nothing-has-this-name"})
    assert "No product matches" in text_of(refused)
