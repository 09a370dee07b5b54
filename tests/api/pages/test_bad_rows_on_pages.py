"""Rows of a file with errors, which are downloaded and mended, and columns with names of their own."""

import csv
import io

import pytest

from support.backoffice import BackOfficeSite
from support.import_files import applied, checked, finished
from support.orders import rows, sell
from support.pages import Person, fields_of, staff_member, text_of

PRICES = "select single_unit_cost from price join product on product.id = product_id where sku = %s"


@pytest.fixture(scope="module")
def catalogue(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "catalogue")


def bad_rows(person: Person, path: str) -> str:
    """The file of a check's bad rows."""
    sent = person.get(f"{path}/bad-rows")
    assert sent.status_code == 200, text_of(sent)
    assert 'filename="bad-rows.csv"' in sent.headers["Content-Disposition"]
    return sent.content.decode()


def test_bad_rows_are_downloaded_mended_and_imported_after_the_good_ones(
    office: BackOfficeSite, catalogue: Person
) -> None:
    good, bad = sell(office.service, "GOOD-ROW", 10), sell(office.service, "BAD-ROW", 10)
    content = f"price_list;sku;single_unit_cost\ndefault;{good};12.50\ndefault;{bad};a lot\ndefault;NO-SUCH;11\n"
    path, page = checked(catalogue, content, "prices.csv")
    assert "Download the 2 bad rows" in text_of(page)
    found = list(csv.reader(io.StringIO(bad_rows(catalogue, path)), delimiter=";"))
    assert [row[1:] for row in found] == [
        ["price_list", "sku", "single_unit_cost"],
        ["default", bad, "a lot"],
        ["default", "NO-SUCH", "11"],
    ]
    assert found[0][0] == "what_is_wrong"
    assert "a lot" in found[1][0]
    assert "does not exist" in found[2][0]
    assert catalogue.send(path, fields_of(page) | {"partial": "true"}).status_code == 303
    finished(catalogue, path)
    made = applied(catalogue, path)
    shown = catalogue.get(made)
    assert "2 rows of the file were left out." in text_of(shown)
    mended = bad_rows(catalogue, path).replace("a lot", "13.50").replace("NO-SUCH", good)
    again, page = checked(catalogue, mended, "bad-rows.csv")
    assert "Apply 2 changes" in text_of(page)
    applied(catalogue, again)
    assert [rows(office.service, PRICES, sku) for sku in (good, bad)] == [[(11,)], [(13.5,)]]


def test_a_file_without_bad_rows_or_without_good_ones_has_none_to_download(
    office: BackOfficeSite, catalogue: Person
) -> None:
    sku = sell(office.service, "ONLY-ROW", 10)
    for cost in ("11", "a lot"):
        path, page = checked(catalogue, f"price_list,sku,single_unit_cost\ndefault,{sku},{cost}\n", "prices.csv")
        assert "bad row" not in text_of(page)
        assert catalogue.get(f"{path}/bad-rows").status_code == 404


def test_a_file_that_cannot_be_read_to_its_end_has_no_bad_rows(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "BROKEN-ROW", 10)
    content = f'price_list,sku,single_unit_cost\ndefault,{sku},11\ndefault,"{sku}"x,12\n'
    path, page = checked(catalogue, content, "prices.csv")
    assert "not CSV" in text_of(page)
    assert "Go on with" not in text_of(page)
    assert catalogue.get(f"{path}/bad-rows").status_code == 404


def test_a_column_with_another_name_is_mapped_to_a_field(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "MAPPED", 10)
    content = f"price_list;sku;Preis\ndefault;{sku};12.50\ndefault;NOBODY;1\n"
    path, page = checked(catalogue, content, "prices.csv", "price-list")
    assert "column 'Preis' is unknown" in text_of(page)
    fields = fields_of(page) | {"columns-0-theirs": "Preis", "columns-0-field": "single_unit_cost"}
    assert catalogue.send(path, fields).status_code == 303
    page = finished(catalogue, path)
    assert "Column “Preis” is" in text_of(page)
    assert "Go on with the 1 good row" in text_of(page)
    fields = fields_of(page) | {"columns-0-theirs": "Preis", "columns-0-field": "single_unit_cost", "partial": "true"}
    assert catalogue.send(path, fields).status_code == 303
    finished(catalogue, path)
    applied(catalogue, path)
    assert rows(office.service, PRICES, sku) == [(12.5,)]
