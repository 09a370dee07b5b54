"""The staff's pages of imports: checking a file, applying it, the history, and rolling back."""

import io
import json
import re
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from openpyxl import Workbook

from support.backoffice import BackOfficeSite, backoffice_of
from support.import_files import SENT, applied, checked, finished, upload
from support.orders import rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.shop import price, product


@pytest.fixture(scope="module")
def catalogue(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "catalogue")


def available(office: BackOfficeSite, sku: str) -> int:
    statement = "select s.available from stock_level s join product p on p.id = s.product_id where p.sku = %s"
    [(units,)] = rows(office.service, statement, sku)
    return int(units)


def test_a_file_is_checked_row_by_row_and_changes_nothing_until_it_is_applied(
    office: BackOfficeSite, catalogue: Person
) -> None:
    sku, same = sell(office.service, "IN-1", available=5), sell(office.service, "IN-2", available=6)
    path, page = checked(catalogue, f"sku,available\n{sku},12\n{same},6\n", "count of <monday>.csv")
    shown = text_of(page)
    for part in ("Stock", "CSV", "1 Changed", "1 Unchanged", "5 → 12", "Apply 1 change"):
        assert part in shown
    assert "count of &lt;monday&gt;.csv" in page.text
    assert available(office, sku) == 5
    one = applied(catalogue, path)
    assert available(office, sku) == 12
    shown = text_of(catalogue.get(one))
    for part in ("stock", catalogue.email, "IN-1", "5 → 12", "Roll it back"):
        assert part in shown
    assert "IN-1,changed" in catalogue.get(f"{one}?format=csv").text
    assert catalogue.get(path).headers["Location"] == one
    assert catalogue.send(f"{path}/apply", SENT).headers["Location"] == one
    assert available(office, sku) == 12
    [(by,)] = rows(office.service, "select actor_name from audit_entry where subject = %s", one.strip("/"))
    assert by == catalogue.email


def test_what_is_stored_is_a_file_that_is_changed_and_imported_again(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "IN-A-FILE", 12, available=5)
    assert 'href="/import/file/price-list" download' in catalogue.get("/import").text
    file = catalogue.get("/import/file/price-list")
    assert file.headers["Content-Disposition"] == 'attachment; filename="price-list.csv"'
    assert f"default,{sku},12.00,," in file.text
    _, page = checked(catalogue, file.text.replace(f"{sku},12.00", f"{sku},13.00"), "price-list.csv")
    shown = text_of(page)
    assert "Apply 1 change" in shown
    assert "£12.00 → £13.00" in shown
    unknown = [catalogue.get(f"/import/file/{kind}").status_code for kind in ("customers", "nonsense")]
    assert unknown == [404, 404]
    logged = "select subject, actor_kind from audit_entry where action = 'import-file.download'"
    assert rows(office.service, logged) == [("import-file/price-list", "staff")]


def test_rows_with_errors_are_left_out_where_somebody_says_so(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "IN-PART", available=5)
    path, page = checked(catalogue, f"sku,available\n{sku},12\nNOBODY,6\n")
    assert "nothing can be applied" in text_of(page)
    assert "Go on with the 1 good row" in text_of(page)
    button = page.text.split("Go on with")[0].rpartition("<form")[2]
    fields = dict(re.findall(r'name="(kind|partial)" value="([^"]*)"', button))
    catalogue.send(path, fields)
    shown = text_of(finished(catalogue, path))
    assert "1 row would be left out" in shown
    assert "Apply 1 change" in shown
    applied(catalogue, path)
    assert available(office, sku) == 12


def test_a_tick_for_prices_that_may_be_slips_does_not_bring_back_those_that_the_check_left_out(
    office: BackOfficeSite, catalogue: Person
) -> None:
    slip, good = sell(office.service, "IN-SLIP", 10), sell(office.service, "IN-GOOD", 10)
    file = f"price_list,sku,single_unit_cost\ndefault,{slip},1\ndefault,{good},11\n"
    path, page = checked(catalogue, file, "price-list.csv")
    assert "Prices to look at" in text_of(page)
    catalogue.send(path, {"kind": "price-list", "partial": "true"})
    assert "1 row would be left out" in text_of(finished(catalogue, path))
    catalogue.send(f"{path}/apply", SENT | {"force": "true"})  # of the page before that check
    finished(catalogue, path)
    costs = "select sku, single_unit_cost from price join product p on p.id = product_id where sku = any(%s)"
    assert dict(rows(office.service, costs, [slip, good])) == {slip: 10, good: 11}


def test_errors_have_their_lines_and_nothing_can_be_applied(office: BackOfficeSite, catalogue: Person) -> None:
    sku, other = sell(office.service, "IN-3", available=5), sell(office.service, "IN-3B")
    path, page = checked(catalogue, f"sku,available\n{sku},7\nNO-SUCH,1\n{other},many\n")
    shown = text_of(page)
    assert "2 errors: nothing can be applied." in shown
    assert '3 sku: product "NO-SUCH" does not exist' in shown
    assert "4 available:" in shown
    assert "/apply" not in page.text
    rejected = catalogue.send(f"{path}/apply", SENT)
    assert rejected.status_code == 409
    assert available(office, sku) == 5


def test_forms_and_kinds_are_detected(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "IN-4", 10, available=5)
    stock, price = {"sku": sku, "available": 8}, {"price_list": "default", "sku": sku, "single_unit_cost": 11}
    book = Workbook()
    book.active.append(list(stock))
    book.active.append(list(stock.values()))
    workbook = io.BytesIO()
    book.save(workbook)
    files: list[tuple[str, str | bytes, str]] = [
        ("a.jsonl", json.dumps(stock), "Stock, JSON Lines"),
        ("a.json", json.dumps([price]), "Price list, JSON"),
        ("a.xlsx", workbook.getvalue(), "Stock, XLSX"),
        ("a.csv", f"SKU;Available\r\n{sku};8\r\n", "Stock, CSV"),
        ("a.txt", f"sku\tavailable\r\n{sku}\t8\r\n".encode("utf-16"), "Stock, CSV"),
        ("unnamed", workbook.getvalue(), "Stock, XLSX"),
        ("deliveries", f"sku\tincoming\texpected_on\n{sku}\t3\t2027-01-05\n", "Incoming, CSV"),
    ]
    for name, content, expected in files:
        _, page = checked(catalogue, content, name)
        assert expected in text_of(page)
        assert "Apply 1 change" in text_of(page)


def test_a_file_of_unclear_contents_is_read_as_its_owner_says(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "IN-5", available=1)
    path, page = checked(catalogue, f"sku,available,note\n{sku},9,x\n", "odd.csv")
    assert "Its columns fit no kind of file." in text_of(page)
    assert catalogue.send(path, {"kind": ""}).status_code == 400
    catalogue.sends(path, {"kind": "stock"})
    assert "column 'note' is unknown" in text_of(finished(catalogue, path))
    catalogue.sends(path, {"kind": "stock", "ignore_unknown": "true"})
    assert "Apply 1 change" in text_of(finished(catalogue, path))


def test_units_on_hand_include_allocated_ones_if_the_box_is_ticked(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "IN-6", available=1)
    path, _ = checked(catalogue, f"sku,available\n{sku},9\n")
    page = catalogue.get(path)
    assert 'name="on_hand"' in page.text
    catalogue.sends(path, fields_of(page) | {"kind": "stock", "on_hand": "true"})
    assert "1 → 9" in text_of(finished(catalogue, path))


def test_a_missing_unreadable_or_foreign_file_is_explained(catalogue: Person, sam: Person) -> None:
    for sent, field in (
        (
            catalogue.http.post("/import", files={"kind": (None, "stock")}, headers={"Sec-Fetch-Site": "same-origin"}),
            "file",
        ),
        (upload(catalogue, b"\x00\x81", "old.xls"), "file"),
        (upload(catalogue, "sku", kind="nonsense"), "kind"),
    ):
        assert sent.status_code == 400
        assert f"form-{field}-error" in sent.text
    path, _ = checked(catalogue, "sku,available\nPHONE,1\n")
    assert sam.get(path).status_code == 404
    assert sam.send(f"{path}/apply", SENT).status_code == 404
    assert catalogue.get("/import/check/unknown").status_code == 404
    discarded = catalogue.sends(f"{path}/discard", SENT)
    assert "Nothing has changed" in text_of(discarded)
    assert catalogue.get(path).status_code == 404


def test_a_file_that_changes_nothing_is_not_applied(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "IN-7", available=3)
    _, page = checked(catalogue, f"sku,available\n{sku},3\n")
    assert "there is nothing to apply" in text_of(page)
    assert "/apply" not in page.text


def test_an_import_is_rolled_back(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "BACK-1", available=5)
    path, _ = checked(catalogue, f"sku,available\n{sku},50\n")
    one = applied(catalogue, path)
    form = catalogue.get(f"{one}/roll-back")
    assert "force" not in fields_of(form)
    page = catalogue.sends(f"{one}/roll-back", fields_of(form))
    assert "1 record restored" in text_of(page)
    assert "Rolled back" in text_of(page)
    assert available(office, sku) == 5
    again = catalogue.send(f"{one}/roll-back", SENT)
    assert again.status_code == 409
    assert "already rolled back" in text_of(again)


def test_records_that_changed_since_are_named_and_overwritten_only_by_force(
    office: BackOfficeSite, catalogue: Person
) -> None:
    sku = sell(office.service, "BACK-2", available=5)
    path, _ = checked(catalogue, f"sku,available\n{sku},50\n")
    one = applied(catalogue, path)
    office.service.must_load("stock", [{"sku": sku, "available": 60}])
    rejected = catalogue.send(f"{one}/roll-back", SENT)
    assert rejected.status_code == 409
    shown = text_of(rejected)
    assert "BACK-2 It has changed since the import." in shown
    assert 'name="force"' in rejected.text
    assert available(office, sku) == 60
    page = catalogue.sends(f"{one}/roll-back", {"force": "true"})
    assert "1 of them had changed since" in text_of(page)
    assert available(office, sku) == 5


def test_applying_and_rolling_back_need_the_password_again(office: BackOfficeSite) -> None:
    late = staff_member(office.service, office.url, "catalogue")
    sku = sell(office.service, "LATE", available=5)
    path, _ = checked(late, f"sku,available\n{sku},6\n")
    statement = "update session set proven_at = proven_at - %s where staff_id = %s returning id"
    rows(office.service, statement, timedelta(minutes=11), late.id)
    for address in (f"{path}/apply", "/import/1/roll-back"):
        for response in (late.get(address), late.send(address, SENT)):
            assert response.headers["Location"].startswith("/sign-in/again?next=")
    rows(
        office.service,
        "update session set proven_at = now() + interval '1 year' where staff_id = %s returning id",
        late.id,
    )
    assert "Apply 1 change" in text_of(late.get(f"{path}/apply"))


@pytest.mark.sweep
def test_a_slow_check_shows_how_far_it_is_and_cannot_be_discarded(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "SLOW", available=5)
    with psycopg.connect(office.service.database_url) as holder:
        holder.execute("lock table stock_level in access exclusive mode")
        path = upload(catalogue, f"sku,available\n{sku},6\n").headers["Location"]
        page = catalogue.get(path)
        assert "Checking the file" in text_of(page)
        assert "compared with what is stored" in text_of(page)
        assert 'hx-trigger="every 1s"' in page.text
        assert '<noscript><meta http-equiv="refresh"' in page.text
        rejected = catalogue.send(f"{path}/discard", SENT)
        assert rejected.status_code == 409
        assert "file is being checked" in text_of(rejected)
        rejected = catalogue.send(f"{path}/apply", SENT)
        assert rejected.status_code == 409
        assert "Nothing is done: the file is being checked." in text_of(rejected)
        assert path in catalogue.get("/import").text
    catalogue.send(path, {"kind": "stock", **SENT})  # again, if it has waited too long for the lock
    assert "Apply 1 change" in text_of(finished(catalogue, path))


@pytest.mark.sweep
def test_a_file_that_waits_for_another_import_says_so(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "WAITS", available=5)
    text = f"sku,available\n{sku},6\n"
    with psycopg.connect(office.service.database_url) as holder:
        holder.execute("lock table stock_level in share row exclusive mode")  # as an import has it
        path = upload(catalogue, text).headers["Location"]
        said = "another import or change of the same or related records is under way; try again when it has ended"
        assert said in text_of(finished(catalogue, path)).lower()
        rejected = office.caller("stock:write").post(
            "/api/import/stock", content=text, headers={"Content-Type": "text/csv"}
        )
        assert (rejected.status_code, rejected.headers["Retry-After"]) == (503, "5")
        assert rejected.json()["message"] == said
    assert available(office, sku) == 5


@pytest.mark.sweep
def test_imports_that_run_end_without_a_change_when_the_site_stops(office: BackOfficeSite) -> None:
    sku = sell(office.service, "STOPPED", available=5)
    with psycopg.connect(office.service.database_url) as holder:
        with backoffice_of(office.service) as stopping:
            person = staff_member(office.service, stopping.url, "catalogue")
            path, _ = checked(person, f"sku,available\n{sku},6\n")
            holder.execute("lock table stock_level in access exclusive mode")
            assert person.send(f"{path}/apply", SENT).headers["Location"] == path
            assert "Applying the file" in text_of(person.get(path))
        holder.rollback()
    assert available(office, sku) == 5


def test_roles_import_and_see_what_is_theirs(office: BackOfficeSite, catalogue: Person, sam: Person) -> None:
    rows_of_customers: list[dict[str, Any]] = [
        {"email_address": "imported@shop.example", "first_name": "A", "last_name": "B"}
    ]
    text = "\n".join(map(json.dumps, rows_of_customers))
    assert 'value="customers"' not in catalogue.get("/import").text
    assert upload(catalogue, text, "c.jsonl", "customers").status_code == 403
    path, page = checked(sam, text, "c.jsonl")
    assert "Customers, JSON Lines" in text_of(page)
    one = applied(sam, path)
    assert catalogue.get(one).status_code == 404
    assert catalogue.send(f"{one}/roll-back", SENT).status_code in {403, 404}
    assert one not in catalogue.get("/import").text
    for role in ("support", "finance"):
        reader = staff_member(office.service, office.url, role)
        assert one in reader.get("/import").text
        assert 'type="file"' not in reader.get("/import").text
        assert upload(reader, "sku,available\n").status_code == 403
        assert reader.send(f"{one}/roll-back", SENT).status_code == 403
        assert "roll-back" not in reader.get(one).text
    assert staff_member(office.service, office.url, "warehouse").get("/import").status_code == 403


def test_the_history_is_paged_and_is_a_file(catalogue: Person) -> None:
    page = catalogue.get("/import").text
    assert "Stock" in page
    file = catalogue.get("/import?format=csv").text
    assert file.startswith("id,kind,at,by,added")


def cost_of(office: BackOfficeSite, sku: str) -> Any:
    statement = "select single_unit_cost from price join product p on p.id = product_id where sku = %s"
    return rows(office.service, statement, sku)[0][0]


def test_prices_that_may_be_slips_want_a_tick(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "PAGE-SLIP", 100)
    path, page = checked(catalogue, f"price_list,sku,single_unit_cost\ndefault,{sku},0\n", "prices.csv")
    shown = text_of(page)
    for part in (
        "1 Prices lowered",
        "\N{MINUS SIGN}100% Largest fall",
        "Prices to look at",
        "is free of charge",
        "Price by",
        "default 1 and more",
    ):
        assert part in shown
    assert f'action="{path}/apply"' not in page.text
    form = catalogue.get(f"{path}/apply")
    assert "These prices are right: import them" in text_of(form)
    rejected = catalogue.send(f"{path}/apply", {"once": ""})
    assert rejected.status_code == 409
    assert "tick this if the prices are right" in text_of(rejected)
    assert cost_of(office, sku) == 100

    sent = catalogue.send(f"{path}/apply", {"once": "", "force": "true"})
    assert sent.status_code == 303
    assert cost_of(office, sku) == 0
    one = sent.headers["Location"]
    shown = text_of(catalogue.get(one))
    for part in ("1 Prices lowered", "\N{MINUS SIGN}100%", "Customers concerned"):
        assert part in shown
    assert catalogue.get(f"{one}?format=csv").text.splitlines()[0] == "line,record,change,before,after,percent"
    assert "1 Prices raised" in text_of(catalogue.get(f"{one}/roll-back"))
    assert cost_of(office, sku) == 0
    assert catalogue.send(f"{one}/roll-back", {"once": ""}).status_code == 303
    assert cost_of(office, sku) == 100


def test_other_prices_are_applied_as_before(office: BackOfficeSite, catalogue: Person) -> None:
    sku = sell(office.service, "PAGE-FAIR", 100)
    path, page = checked(catalogue, f"price_list,sku,single_unit_cost\ndefault,{sku},80\n", "prices.csv")
    assert "\N{MINUS SIGN}20%" in text_of(page)
    assert "Prices to look at" not in text_of(page)
    applied(catalogue, path)
    assert cost_of(office, sku) == 80


@pytest.mark.sweep
def test_what_a_roll_back_of_many_prices_does_to_them_is_shown_to_who_asks(
    office: BackOfficeSite, catalogue: Person
) -> None:
    skus = [f"PAGE-MANY-{number}" for number in range(2_001)]
    office.service.must_load("products", [product(sku) for sku in skus])
    for cost in (10, 8):
        office.service.must_load("price-list", [price(sku, cost) for sku in skus])
    [(number,)] = rows(office.service, "select max(id) from import_run")
    path = f"/import/{number}/roll-back"
    shown = catalogue.get(path)
    assert "Prices raised" not in shown.text
    assert f"{path}?prices=true" in shown.text
    asked = catalogue.get(f"{path}?prices=true")
    assert "2,001 Prices raised" in text_of(asked)
    assert f'action="{path}?prices=true"' in asked.text
    office.service.must_load("price-list", [price(skus[0], 9)])
    rejected = catalogue.send(f"{path}?prices=true")
    assert rejected.status_code == 409
    assert "2,001 Prices raised" in text_of(rejected)
    assert "It has changed since the import." in text_of(rejected)
    assert "MANY-0" in catalogue.get(f"/import/{number}").text
