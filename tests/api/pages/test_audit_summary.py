"""`/audit/summary`: who did how much of what in a period."""

import re
from html import unescape

import pytest

from support.backoffice import BackOfficeSite
from support.orders import buy, sell
from support.pages import Person, staff_member, text_of
from support.service import Customer


@pytest.fixture(scope="module")
def busy(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "warehouse")


def row_of(page: str, *words: str) -> str:
    """The only row of a table that has all of some words."""
    rows = re.findall(r"<tr>.*?</tr>", page, re.DOTALL)
    [found] = [row for row in rows if all(word in re.sub(r"<wbr>|<[^>]*>", "", row) for word in words)]
    return str(found)


def test_the_summary_counts_what_people_did_and_leads_to_the_entries(
    office: BackOfficeSite, busy: Person, sam: Person, customer: Customer
) -> None:
    skus = [sell(office.service, f"COUNTED-{number}", available=1) for number in range(2)]
    for sku in (*skus, skus[0]):
        busy.sends("/stock-adjustment", {"sku": sku, "change": "1", "reason": "found"})
    page = sam.get("/audit/summary")
    row = row_of(page.text, busy.email, "Stock: adjusted")
    numbers = re.findall(r'data-label="(?:How often|Of how many)"[^>]*>(?:<a[^>]*>)?(\d+)', row)
    assert numbers == ["3", "2"]
    entries = sam.get(unescape(re.findall(r'href="([^"]*action=[^"]*)"', row)[0]))
    assert text_of(entries).count("Stock: adjusted") == 3
    assert "Who did how much" in text_of(sam.get("/audit"))
    assert f"staff,{busy.id},{busy.email},,stock.adjust,3,2," in sam.get("/audit/summary?format=csv").text

    buy(customer)
    assert "Order: confirmed" not in text_of(sam.get("/audit/summary?sort=who"))
    assert "Order: confirmed" in text_of(sam.get("/audit/summary?side=customers&sort=-last"))


def test_a_period_includes_its_days(sam: Person, busy: Person) -> None:
    assert "Nothing was done in these days" in text_of(sam.get("/audit/summary?from=2020-01-01&to=2020-01-31"))
    backward = sam.get("/audit/summary?from=2026-06-02&to=2026-06-01")
    assert (backward.status_code, "From must not be after 2026-06-01" in text_of(backward)) == (400, True)
    assert sam.get("/audit/summary?from=yesterday").status_code == 400
    assert sam.get("/audit/summary?to=9999-12-31").status_code == 400
    assert busy.get("/audit/summary").status_code == 403
