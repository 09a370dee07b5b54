"""The guide's code works: it is run, or compared with the API's responses where it cannot run here."""

import csv
import json
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from support.billing import invoiced, number_of
from support.followers import whole
from support.orders import buy, dispatch, sell
from support.service import Customer, Service
from support.web_page import plain
from tradecounter.orders import rules

pytestmark = pytest.mark.sweep

_CODE = re.compile(r'<pre class="code"><code>(.*?)</code></pre>', re.DOTALL)
_COLUMN = re.compile(r'\{"([\w.]+)", ([\w.]+(?: \w+)?)\}')

# The Google services that the script uses, implemented with curl.
_GOOGLE = """
const { execFileSync } = require("node:child_process");
const cells = {}, formats = [];
globalThis.PropertiesService = { getScriptProperties: () => ({ getProperty: (name) => process.env[name] }) };
globalThis.UrlFetchApp = { fetch: (address, { headers }) => {
  const words = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const line = ["-s", "-w", "\\n%{http_code}", address, ...words];
  const [body, status] = execFileSync("curl", line, { encoding: "utf8" }).split(/\\n(?=\\d+$)/);
  return { getResponseCode: () => Number(status), getContentText: () => body };
} };
globalThis.Utilities = { parseCsv: (text) => text.trim().split("\\r\\n").map((line) => line.split(",")) };
const range = (...place) => ({
  setNumberFormat: () => formats.push(place),
  setValues: (rows) => { cells.rows = rows; },
});
const sheet = { clearContents() {}, getRange: range, setFrozenRows() {} };
globalThis.SpreadsheetApp = { getActiveSpreadsheet: () => ({ getSheetByName: () => null, insertSheet: () => sheet }) };
process.on("exit", () => console.log(JSON.stringify({ formats, rows: cells.rows })));
"""


@pytest.fixture(scope="module")
def code(shop: Service) -> list[str]:
    return [plain(found) for found in _CODE.findall(shop.client().get("/guide").text)]


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def the_one(code: list[str], mark: str) -> str:
    [found] = [text for text in code if mark in text]
    return found


def types_in(query: str) -> dict[str, str]:
    return dict(_COLUMN.findall(query))


def test_the_query_for_excel_has_a_type_for_every_column(code: list[str], customer: Customer) -> None:
    types = types_in(the_one(code, 'RelativePath = "product"'))
    header, *rows = csv.reader(customer.get("/product", headers={"Accept": "text/csv"}).text.splitlines())
    assert list(types) == header
    assert rows
    for row in rows:
        for name, value in zip(header, row, strict=True):
            if types[name] in {"type number", "Currency.Type"}:
                assert re.fullmatch(r"\d+(\.\d+)?|", value), name
            elif types[name] == "Int64.Type":
                assert value.isdigit()
            elif types[name] == "type logical":
                assert value in {"true", "false"}


def test_the_query_for_orders_uses_existing_fields(code: list[str], shop: Service) -> None:
    query = the_one(code, 'RelativePath = "order"')
    schemas = shop.client().get("/openapi.json").json()["components"]["schemas"]
    known = schemas["Order"]["properties"] | schemas["OrderItem"]["properties"] | schemas["Product"]["properties"]
    expanded = set(re.findall(r'"(\w+)"', " ".join(re.findall(r"ExpandRecordColumn\((.*?)\)", query, re.DOTALL))))
    assert expanded - {"order"} <= known.keys()
    assert types_in(query).keys() <= expanded


@pytest.mark.parametrize("program", [found for found in ["node"] if shutil.which(found)])
def test_the_script_for_google_sheets_fills_the_sheet(
    code: list[str], customer: Customer, program: str, tmp_path: Path
) -> None:
    script = tmp_path / "sheet.cjs"
    script.write_text(f"{_GOOGLE}\n{the_one(code, 'updateProducts')}\nupdateProducts();\n")
    done = subprocess.run(
        [program, str(script)], env={"KEY": customer.key, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    sheet = json.loads(done.stdout)
    products = int(customer.get("/product?limit=1").headers["X-Total-Count"])
    assert len(sheet["rows"]) == products + 1
    as_text = [sheet["rows"][0][column - 1] for _, column, *_ in sheet["formats"]]
    assert as_text == ["sku", "ean", "name", "manufacturer", "store_url", "categories", "attributes"]
    assert sheet["rows"][0][:2] == ["sku", "ean"]


def test_the_program_that_retries_creates_an_order_once(code: list[str], customer: Customer, tmp_path: Path) -> None:
    first = customer.get("/product?limit=1&inStock=true").json()[0]["sku"]
    address = {"contact_name": "A", "street_one": "1 Road", "city": "Leeds", "zip": "LS1 4AP", "country_code": "GB"}
    program = the_one(code, "def send(").replace("CV-320P", first)
    program = program.replace('{"id": 5001}', json.dumps(address))
    (tmp_path / "order.py").write_text(program)
    printed = [
        subprocess.run(
            [sys.executable, "order.py"], cwd=tmp_path, env={"KEY": customer.key}, capture_output=True, text=True,
            timeout=60, check=True,
        ).stdout.strip()
        for _ in range(2)
    ]  # fmt: skip
    assert printed[0] == printed[1]
    assert [order["order_reference"] for order in customer.get("/order").json()] == [printed[0]]


def run(program: str, folder: Path, customer: Customer) -> list[str]:
    (folder / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, env={"KEY": customer.key}, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_the_program_that_keeps_invoices_fetches_each_once(code: list[str], shop: Service, tmp_path: Path) -> None:
    customer, program = shop.customer(), the_one(code, "def new_invoices(")
    for _ in range(2):
        invoiced(shop, customer)
    assert len(run(program, tmp_path, customer)) == 2
    placed = invoiced(shop, customer)
    [line] = run(program, tmp_path, customer)
    assert line.split() == [str(number_of(shop, placed)), placed["order_reference"], "66.6"]
    files = sorted((tmp_path / "invoices").iterdir())
    assert [file.suffix for file in files] == [".json", ".pdf"] * 3
    assert files[-1].read_bytes().startswith(b"%PDF-")
    assert json.loads(files[-2].read_text())["state"] == "due"


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl; the summary says so")
def test_the_command_for_a_table_of_invoices_writes_it(code: list[str], shop: Service, tmp_path: Path) -> None:
    customer = shop.customer()
    placed = invoiced(shop, customer)
    command = the_one(code, "> invoices.csv")
    env = {"KEY": customer.key, "BASE": shop.url, "PATH": "/usr/bin:/bin"}
    subprocess.run(["bash", "-c", command], cwd=tmp_path, env=env, timeout=60, check=True)
    [row] = csv.DictReader((tmp_path / "invoices.csv").read_text().splitlines())
    assert (row["order_reference"], row["cost_gross"]) == (placed["order_reference"], "66.60")


def test_the_guide_explains_every_state_of_an_invoice(shop: Service) -> None:
    states = (
        shop.client().get("/openapi.json").json()["components"]["schemas"]["CustomerInvoice"]["properties"]["state"]
    )
    text = shop.client().get("/guide").text
    assert set(states["enum"]) <= set(re.findall(r"<tr>\s*<td>\s*<code>([^<]+)</code>", text))


def test_the_guide_explains_every_status_of_an_order(shop: Service) -> None:
    text = shop.client().get("/guide").text
    explained = set(re.findall(r"<tr>\s*<td>\s*<code>([^<]+)</code>", text))
    assert {
        rules.AWAITING_DISPATCH, rules.BACK_ORDERED, rules.PART_DISPATCHED, rules.DISPATCHED,
        rules.PART_INVOICED, rules.INVOICED, rules.COMPLETED, rules.CANCELLED,
    } <= explained  # fmt: skip


def test_the_program_that_follows_parcels_prints_each_one(
    code: list[str], customer: Customer, shop: Service, tmp_path: Path
) -> None:
    (tmp_path / "parcels.py").write_text(the_one(code, "# parcels.py"))
    environment = {"KEY": customer.key}

    def printed() -> list[str]:
        done = subprocess.run(
            [sys.executable, "parcels.py"], cwd=tmp_path, env=environment, capture_output=True, text=True,
            timeout=60, check=True,
        )  # fmt: skip
        return done.stdout.splitlines()

    buy(customer)
    assert printed() == []
    placed = buy(customer, [("PHONE", 2), ("CABLE", 3)])
    dispatch(shop, placed, (placed["items"][0]["id"], 2))
    dispatch(shop, placed)
    first, second = printed()
    assert first.startswith(f"{placed['order_reference']} ")
    assert ("2 units" in first, "3 units" in second) == (True, True)


def test_the_program_that_orders_safely_says_what_stops_it(
    code: list[str], customer: Customer, shop: Service, tmp_path: Path
) -> None:
    address = {"contact_name": "A", "street_one": "1 Road", "city": "Leeds", "zip": "LS1 4AP", "country_code": "GB"}
    sku = sell(shop, "SAFELY", 10, available=2)
    program = the_one(code, "# order_safely.py").replace("CV-320P", sku).replace('{"id": 5001}', json.dumps(address))
    (tmp_path / "order_safely.py").write_text(program)

    def run(most: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "order_safely.py", most], cwd=tmp_path, env={"KEY": customer.key}, capture_output=True,
            text=True, timeout=60, check=False,
        )  # fmt: skip

    assert run("9.99").stderr.strip() == "one unit costs 10.0 now"
    assert re.fullmatch("[0-9a-f]{32}", run("10").stdout.strip())
    shop.must_load("stock", [{"sku": sku, "available": 1}])
    assert "1 of SAFELY are in stock, not 2" in run("10.5").stderr


def test_the_program_that_keeps_a_copy_brings_it_up_to_date(code: list[str], shop: Service, tmp_path: Path) -> None:
    customer, program = shop.customer(), the_one(code, "def follow(")
    for change in (None, {"sku": "PHONE", "available": 11}):
        if change is not None:
            shop.must_load("stock", [change])
        run(program, tmp_path, customer)
        with sqlite3.connect(tmp_path / "catalogue.sqlite") as copy:
            kept = {sku: json.loads(data) for sku, data in copy.execute("select sku, data from product")}
        assert kept == whole(customer)


def test_the_program_that_keeps_a_copy_begins_again_when_its_cursor_has_expired(
    code: list[str], shop: Service, tmp_path: Path
) -> None:
    customer, program = shop.customer(), the_one(code, "def follow(")
    run(program, tmp_path, customer)
    with sqlite3.connect(tmp_path / "catalogue.sqlite") as copy:
        copy.execute("update cursor set value = ?", ["A" * 60])
        copy.execute("insert into product values ('NONSENSE', '{}')")
    run(program, tmp_path, customer)
    with sqlite3.connect(tmp_path / "catalogue.sqlite") as copy:
        assert {sku for (sku,) in copy.execute("select sku from product")} == whole(customer).keys()


def test_the_agents_program_orders(code: list[str], shop: Service, customer: Customer, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(the_one(code, "streamable_http_client"))
    printed = subprocess.run(
        [sys.executable, "agent.py"], cwd=tmp_path, env={"KEY": customer.key, "BASE": shop.url}, capture_output=True,
        text=True, timeout=60, check=True,
    ).stdout.split()  # fmt: skip
    assert printed[0] == "confirmed"
    assert customer.get(f"/order/{printed[-1]}").json()["customer_reference"] == "PO-7001"


def test_the_agents_registration_can_be_sent(code: list[str], shop: Service) -> None:
    for mark in ("/auth/register", "/.well-known/oauth-protected-resource/mcp"):
        lines = the_one(code, mark).strip()
        done = subprocess.run(
            ["sh", "-ec", lines], env={"BASE": shop.url, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
            timeout=60, check=True,
        )  # fmt: skip
        assert "read" in done.stdout
