"""`trade`, the command line of the client for Python."""

import io
import re
import zipfile
from pathlib import Path

import pytest

from support.billing import invoiced
from support.built_clients import PythonClient
from support.demo import Demo
from support.lossy_proxy import lossy_proxy
from support.orders import rows

pytestmark = pytest.mark.long


def test_a_file_is_ordered_once_however_often_the_command_runs(
    python_client: PythonClient, demo: Demo, tmp_path: Path
) -> None:
    file, key = tmp_path / "basket.csv", demo.customer.key
    file.write_text("sku,quantity\nCV-320P,2\n")
    address = str(demo.customer.get("/customer/address").json()[0]["id"])
    command = ("order", file, "--reference", "PO-file", "--address", address, "--yes")
    with lossy_proxy(demo.service.url) as proxy:
        printed = [python_client.trade(proxy.url, key, *command) for _ in range(3)]
    [(reference,)] = rows(demo.service, "select order_reference from orders where customer_reference = 'PO-file'")
    assert all(f"Ordered as {reference}." in each for each in printed)
    assert reference in python_client.trade(demo.service.url, key, "orders", "--reference", "PO-file")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"CV-320P,2\nCV-320P,many\n", "basket.csv, line 3: quantity: 'many' is no whole number from 1 to 100000"),
        (b"CV-320P,100001\n", "basket.csv, line 2: quantity: '100001' is no whole number from 1 to 100000"),
        (b"CV-320P," + b"9" * 5_000, "basket.csv, line 2: quantity: '9"),
        (b"CV-320P,2,NaN\n", "basket.csv, line 2: max_unit_cost: 'NaN' is no amount"),
        (b"CV-320P,2,1_0\n", "basket.csv, line 2: max_unit_cost: '1_0' is no amount"),
        (b"CV-320P,1,000,9.50\n", "basket.csv, line 2: more cells than columns"),
        (b'CV-320P,2,"9.50\nCV-300,1,\n', "basket.csv: is no CSV file in UTF-8: unexpected end of data"),
        (b"CV-320P,2,\xa35\n", "basket.csv: is no CSV file in UTF-8: "),
        (b"", "basket.csv: no lines to order"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    python_client: PythonClient, demo: Demo, tmp_path: Path, content: bytes, said: str
) -> None:
    file = tmp_path / "basket.csv"
    file.write_bytes(b"sku,quantity,max_unit_cost\n" + content)
    with pytest.raises(AssertionError, match=re.escape(said)):
        python_client.trade(demo.service.url, demo.customer.key, "order", file, "--reference", "PO-wrong", "--yes")


def test_numbers_may_have_thousands_commas_and_a_pound_sign(
    python_client: PythonClient, demo: Demo, tmp_path: Path
) -> None:
    file = tmp_path / "basket.csv"
    file.write_text('SKU,Quantity,max_unit_cost\nCV-320P,"1,000","£1,234.50"\n,,\n')
    address = str(demo.customer.get("/customer/address").json()[0]["id"])
    with pytest.raises(AssertionError, match="no shipping method takes 1020 kg"):
        python_client.trade(
            demo.service.url, demo.customer.key, "order", file, "--reference", "PO-many", "--address", address, "--yes"
        )


def test_an_option_that_is_no_amount_is_named(python_client: PythonClient, demo: Demo, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"argument --max-cost: invalid amount value: 'cheap'"):
        python_client.trade(
            demo.service.url, demo.customer.key, "order", tmp_path, "--reference", "PO-1", "--max-cost", "cheap"
        )


@pytest.mark.parametrize("given", [["--reference", "PO-asked"], ["--yes"]])
def test_an_order_that_nobody_answers_for_is_not_placed(
    python_client: PythonClient, demo: Demo, tmp_path: Path, given: list[str]
) -> None:
    file = tmp_path / "basket.csv"
    file.write_text("sku,quantity\nCV-320P,2\n")
    address = str(demo.customer.get("/customer/address").json()[0]["id"])
    before = demo.customer.get("/order").headers["X-Total-Count"]
    with pytest.raises(AssertionError, match=r"trade: nobody is there to answer: give --reference and --yes, .*\n$"):
        python_client.trade(demo.service.url, demo.customer.key, "order", file, "--address", address, *given)
    assert demo.customer.get("/order").headers["X-Total-Count"] == before


def test_an_order_asks_for_its_reference(python_client: PythonClient, demo: Demo, tmp_path: Path) -> None:
    file = tmp_path / "basket.csv"
    file.write_text("sku,quantity\nCV-320P,2\n")
    address = str(demo.customer.get("/customer/address").json()[0]["id"])
    command = ("order", file, "--address", address)
    printed = python_client.trade(demo.service.url, demo.customer.key, *command, typed="PO-typed\ny\n")
    [(reference,)] = rows(demo.service, "select order_reference from orders where customer_reference = 'PO-typed'")
    assert "Your reference: " in printed
    assert f"Ordered as {reference}." in printed


def test_products_are_listed_as_a_table(python_client: PythonClient, demo: Demo) -> None:
    cost = demo.customer.get("/product/CV-320P").json()["single_unit_cost"]
    printed = python_client.trade(demo.service.url, demo.customer.key, "products", "CV-320P")
    [line] = [line for line in printed.splitlines() if line.startswith("CV-320P ")]
    assert f"£{cost:,.2f}" in line


def test_invoices_are_saved_as_pdf_files(python_client: PythonClient, demo: Demo, tmp_path: Path) -> None:
    customer = demo.service.customer()
    invoiced(demo.service, customer, ("CV-320P", 1), method=101)
    [invoice] = customer.get("/invoice").json()
    file = tmp_path / "march.zip"
    assert str(invoice["number"]) in python_client.trade(demo.service.url, customer.key, "invoices")
    python_client.trade(demo.service.url, customer.key, "invoices", "--zip", file)
    with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive:
        assert archive.namelist() == [f"invoice-{invoice['number']}.pdf"]
        assert archive.read(archive.namelist()[0]).startswith(b"%PDF")
