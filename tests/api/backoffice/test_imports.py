"""`/api/import`: files as request bodies, their history and their roll-back."""

import json

import httpx2
import pytest

from support.backoffice import BackOfficeSite, pages
from support.error_bodies import error_body
from support.orders import buy, level, lines, rows, sell
from support.shop import product

CSV = {"Content-Type": "text/csv"}


@pytest.fixture(scope="module")
def sku(office: BackOfficeSite) -> str:
    return sell(office.service, "IMPORTED", available=5)


def stock(staff: httpx2.Client, sku: str) -> int:
    return int(staff.get(f"/api/product/{sku}").json()["stock"]["available"])


def send(client: httpx2.Client, content: str, query: str = "", **headers: str) -> httpx2.Response:
    return client.post(f"/api/import/stock{query}", content=content, headers={**CSV, **headers})


def test_a_file_is_tried_applied_repeated_and_rolled_back(staff: httpx2.Client, sku: str) -> None:
    file = f"sku,available\n{sku},8\n"
    tried = send(staff, file, "?dry_run=true&diff=true", **{"Idempotency-Key": "stock-1"}).json()
    assert (tried["id"], tried["changed"], tried["diff"][0]["after"]) == (None, 1, {"available": 8})
    assert stock(staff, sku) == 5

    applied = send(staff, file, **{"Idempotency-Key": "stock-1"})
    assert (applied.status_code, applied.json()["changed"], stock(staff, sku)) == (200, 1, 8)
    again = send(staff, file, **{"Idempotency-Key": "stock-1"})
    assert (again.json(), again.headers["Idempotent-Replay"]) == (applied.json(), "true")
    assert send(staff, file + "\n", "?replace=true", **{"Idempotency-Key": "stock-1"}).status_code == 400

    number = applied.json()["id"]
    send(staff, f"sku,available\n{sku},9\n")
    changed_since = staff.post(f"/api/import/{number}/roll-back")
    assert changed_since.status_code == 409
    assert sku in changed_since.json()["message"]
    done = staff.post(f"/api/import/{number}/roll-back?force=true").json()
    assert (done["id"], done["overwritten"], stock(staff, sku)) == (number, [sku], 5)
    assert staff.post(f"/api/import/{number}/roll-back").status_code == 409


@pytest.mark.parametrize("brought", [5, 8])
def test_units_that_an_import_gave_to_back_orders_count_as_changed_since(
    staff: httpx2.Client, office: BackOfficeSite, brought: int
) -> None:
    service = office.service
    waited_for = sell(service, f"WAITED-{brought}", available=0)
    placed = buy(service.customer(), [(waited_for, 5)])
    applied = send(staff, f"sku,available\n{waited_for},{brought}\n", "?diff=true").json()
    assert [(change["key"], change["after"]) for change in applied["diff"]] == [(waited_for, {"available": brought})]
    assert level(service, waited_for) == (brought - 5, 5, 0)
    address = f"/api/import/{applied['id']}/roll-back"
    rejected = staff.post(address)
    assert rejected.status_code == 409
    assert rejected.json()["message"].startswith(f"1 record has changed since: {waited_for};")
    assert staff.post(f"{address}?force=true").json()["overwritten"] == [waited_for]
    assert (level(service, waited_for), lines(service, placed)) == ((0, 5, 0), [(waited_for, 5, 0)])


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("stock", "sku,available\nUNCOUNTED,0\n"),
        ("products", "sku,name,manufacturer,manufacturer_name,weight_kg,active\nENDED,Ended,acme,Acme,1,false\n"),
    ],
)
def test_an_added_record_that_was_never_in_use_is_rolled_back(
    staff: httpx2.Client, office: BackOfficeSite, kind: str, file: str
) -> None:
    office.service.must_load("products", [product("UNCOUNTED")])
    applied = staff.post(f"/api/import/{kind}", content=file, headers=CSV).json()
    assert (applied["added"], applied["errors"]) == (1, [])
    done = staff.post(f"/api/import/{applied['id']}/roll-back")
    assert (done.status_code, done.json().get("kept")) == (200, [])


def test_replacing_most_records_is_confirmed_with_a_query_parameter(staff: httpx2.Client, sku: str) -> None:
    file = f"sku,available\n{sku},{stock(staff, sku)}\n"
    rejected = send(staff, file, "?replace=true")
    assert rejected.status_code == 409
    assert rejected.json()["message"].endswith("more than a fifth: confirm it with yes=true")
    tried = send(staff, file, "?replace=true&dry_run=true").json()
    assert tried["warnings"][0]["message"].endswith("more than a fifth: this requires yes=true")
    assert send(staff, file, "?replace=true&dry_run=true&yes=true").json()["warnings"] == []


def test_wrong_lines_are_reported_and_nothing_is_imported(
    staff: httpx2.Client, office: BackOfficeSite, sku: str
) -> None:
    before = rows(office.service, "select max(id) from import_run")
    wrong = send(staff, f"sku,available\n{sku},7\nNOTHING,1\n")
    assert wrong.status_code == 422
    assert [error["line"] for error in wrong.json()["errors"]] == [3]
    assert (wrong.json()["id"], rows(office.service, "select max(id) from import_run")) == (None, before)
    assert staff.post("/api/import/stock", json={}).status_code == 415
    assert send(staff, "", **{"Content-Encoding": "gzip"}).status_code == 415
    assert staff.post("/api/import/shoes", content="", headers=CSV).status_code == 404
    assert send(staff, "\n", "?dry_run=perhaps").status_code == 400


def test_each_kind_needs_its_scope_and_the_history_shows_what_the_token_may_read(
    office: BackOfficeSite, staff: httpx2.Client, sku: str
) -> None:
    keeper = office.caller("stock:write")
    number = send(keeper, f"sku,available\n{sku},6\n").json()["id"]
    prices = office.caller("prices:write")
    rejected = send(prices, "")
    assert (rejected.status_code, rejected.json()) == (
        403,
        error_body("scope_needed", "this needs the scope stock:write"),
    )
    assert prices.post(f"/api/import/{number}/roll-back").status_code == 403
    assert {made["kind"] for page in pages(keeper, "/api/import?limit=2") for made in page} <= {"stock", "incoming"}
    listed = [made["id"] for page in pages(staff, "/api/import?limit=3") for made in page]
    assert listed[0] == number
    assert listed == sorted(set(listed), reverse=True)


def test_a_file_may_be_longer_than_other_bodies(staff: httpx2.Client, sku: str) -> None:
    lines = f"{json.dumps({'sku': sku, 'available': 6})}{' ' * 1000}\n" + "\n" * 1_100_000
    headers = {"Content-Type": "application/x-ndjson"}
    done = staff.post("/api/import/stock?dry_run=true", content=lines, headers=headers)
    assert (done.status_code, done.json()["file"]["form"]) == (200, "JSON Lines"), done.text


def test_a_partial_import_gets_207_with_the_rows_that_are_left_out(staff: httpx2.Client, sku: str) -> None:
    stock_file = f"sku,available\n{sku},31\nNOBODY,4\n{sku.lower()}x,many\n"
    assert send(staff, stock_file).status_code == 422
    sent = send(staff, stock_file, "?partial=true", **{"Idempotency-Key": "partial-1"})
    report = sent.json()
    assert (sent.status_code, report["changed"], report["skipped"], stock(staff, sku)) == (207, 1, 2, 31)
    assert {error["line"] for error in report["errors"]} == {3, 4}
    again = send(staff, stock_file, "?partial=true", **{"Idempotency-Key": "partial-1"})
    assert (again.status_code, again.json(), again.headers["Idempotent-Replay"]) == (207, report, "true")
    assert staff.post(f"/api/import/{report['id']}/roll-back").status_code == 200
    assert send(staff, "sku,available\nNOBODY,4\n", "?partial=true").status_code == 422
    assert send(staff, f"sku,available\n{sku},31\n", "?partial=true").status_code == 200
