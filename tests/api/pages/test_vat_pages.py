"""The VAT of a period on its page, in files and at the API, and the documents behind each figure."""

import csv
import io
import re
from collections.abc import Iterator
from decimal import Decimal
from html import unescape

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import credit, invoiced, number_of
from support.orders import at, uk
from support.pages import Person, staff_member, text_of
from support.service import Service
from support.shop import EUROPE, GERMAN_ADDRESS

PERIOD = "from=2026-07-01&to=2026-09-30"
FIGURES = ("cost_net", "cost_tax", "cost_gross")


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    """A back office with sales at home and abroad in the third quarter of 2026, and credit notes of both."""
    customer = shop.customer(company="Buys at home & abroad")
    with at(shop, uk(2026, 7, 1, 9)):
        at_home = [number_of(shop, invoiced(shop, customer, ("PHONE", units))) for units in (1, 2, 3)]
        abroad = number_of(shop, invoiced(shop, customer, shipping_address=GERMAN_ADDRESS, method=EUROPE))
    with at(shop, uk(2026, 9, 30, 23)):
        credit(shop, at_home[0], amount="10.01")
        credit(shop, abroad, amount="5.00")
    with backoffice_of(shop) as running:
        yield running


@pytest.fixture(scope="module")
def fran(office: BackOfficeSite) -> Person:
    """Someone from finance."""
    return staff_member(office.service, office.url, "finance")


def file_of(fran: Person, path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(fran.get(f"{path}&format=csv").text)))


def test_each_figure_leads_to_the_documents_that_it_sums_up(office: BackOfficeSite, fran: Person) -> None:
    report = office.caller().get(f"/api/vat?{PERIOD}").json()
    page = fran.get(f"/vat?{PERIOD}")
    links = [unescape(found) for found in re.findall(r'href="(/vat/document\?[^"]+)"', page.text)]
    assert [(line["kind"], line["supply"]) for line in report["lines"]] == [
        ("invoice", "domestic"), ("invoice", "export"), ("credit_note", "domestic"), ("credit_note", "export"),
    ]  # fmt: skip
    assert len(links) == 4
    for line, link in zip(report["lines"], links, strict=True):
        documents = file_of(fran, link)
        assert len(documents) == line["documents"]
        for figure in FIGURES:
            assert sum(Decimal(row[figure]) for row in documents) == Decimal(str(line[figure]))
        shown = text_of(fran.get(link))
        assert all(row["number"] in shown for row in documents)
    for figure in FIGURES:
        assert sum(Decimal(str(line[figure])) for line in report["lines"]) == Decimal(str(report[figure]))
    text = text_of(page)
    assert f"£{report['box_1']:,.2f} Box 1," in text
    assert f"£{report['box_6']:,} Box 6," in text
    assert (report["box_1"], report["box_6"]) == (report["cost_tax"], int(report["cost_net"]))


def test_the_file_of_the_page_has_the_lines_of_the_api(office: BackOfficeSite, fran: Person) -> None:
    lines = office.caller().get(f"/api/vat?{PERIOD}").json()["lines"]
    rows = file_of(fran, f"/vat?{PERIOD}")
    assert [[row["kind"], row["supply"], int(row["documents"])] for row in rows] == [
        [line["kind"], line["supply"], line["documents"]] for line in lines
    ]
    assert [[float(row[name]) for name in ("tax_rate", *FIGURES)] for row in rows] == [
        [line[name] for name in ("tax_rate", *FIGURES)] for line in lines
    ]


def test_documents_are_read_page_by_page_by_day_and_by_rate(fran: Person) -> None:
    of_period = f"/vat/document?{PERIOD}"
    days = [row["day"] for row in file_of(fran, f"{of_period}&kind=credit_note")]
    assert days == ["2026-09-30", "2026-09-30"]
    assert file_of(fran, f"{of_period}&rate=5") == []
    assert [row["country"] for row in file_of(fran, f"{of_period}&rate=0%25")] == ["DE"]
    assert "No document matches the filters." in text_of(fran.get(f"{of_period}&rate=5"))
    assert fran.get(f"{of_period}&rate=much").status_code == 400
    assert fran.get("/vat/document?from=soon").status_code == 400


def test_wrong_days_are_said_beside_their_fields(office: BackOfficeSite, fran: Person) -> None:
    for query, said in (("from=soon", "'soon' is not a day"), ("from=2026-09-30&to=2026-07-01", "Must not be after")):
        page = fran.get(f"/vat?{query}")
        assert page.status_code == office.caller().get(f"/api/vat?{query}").status_code == 400
        assert said in text_of(page)
    assert "No invoice has its tax point in this period" in text_of(fran.get("/vat?from=2020-01-01&to=2020-03-31"))
