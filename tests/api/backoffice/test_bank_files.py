"""Bank files in the back office: no line is lost, none is recorded twice, and what was recorded can be undone."""

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any

import httpx2
import psycopg
import pytest
from openpyxl import Workbook

from support.backoffice import BackOfficeSite, backoffice_of, pages
from support.billing import due_of, invoiced, number_of, pay_in, unallocated
from support.orders import at, faults_in_the_books, rows
from support.service import Customer, Service
from support.waiting import waiting_for_a_lock
from tradecounter.payments.queries.bank_lines import lines_waiting

CSV = {"Content-Type": "text/csv"}
XLSX = {"Content-Type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
HEADINGS = "date,amount,payee,reference\n"


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as running:
        yield running


@pytest.fixture
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


@pytest.fixture(autouse=True)
def _books(office: BackOfficeSite) -> Iterator[None]:
    yield
    assert faults_in_the_books(office.service) == {}


def invoice(office: BackOfficeSite, customer: Customer) -> int:
    return number_of(office.service, invoiced(office.service, customer))


def send(staff: httpx2.Client, text: str, query: str = "", **headers: str) -> httpx2.Response:
    return staff.post(f"/api/payment/import{query}", content=text, headers={**CSV, **headers})


def imported(staff: httpx2.Client, text: str, query: str = "") -> dict[str, Any]:
    response = send(staff, text, query)
    assert response.status_code == 200, response.text
    done: dict[str, Any] = response.json()
    assert done["recorded"] + done["payments_out"] + done["repeated"] + len(done["unplaced"]) == done["lines"]
    assert done["recorded"] == len(done["payments"])
    return done


def line_of(staff: httpx2.Client, line_id: int) -> dict[str, Any]:
    shown: dict[str, Any] = staff.get(f"/api/bank-line/{line_id}").json()
    return shown


def place(staff: httpx2.Client, line_id: int, query: str = "", /, **body: object) -> httpx2.Response:
    return staff.post(f"/api/bank-line/{line_id}/place{query}", json=body)


def unplaced(staff: httpx2.Client, text: str) -> int:
    """The id of the one line of a file that cannot be placed."""
    [line] = imported(staff, HEADINGS + text)["unplaced"]
    return int(line["id"])


def test_a_dry_run_says_what_each_line_pays_and_changes_nothing(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    due = due_of(office.service, number)
    text = f'{HEADINGS}2026-06-15,"1,000.00",ACME,INV {number}\n2026-06-15,-5,ACME,x\n2026-06-15,7.00,ACME 1,who\n'
    dry = imported(staff, text, "?dry_run=true")
    [paid] = dry["payments"]
    assert (dry["id"], paid["payment_id"], dry["unplaced"][0]["id"]) == (None, None, None)
    assert (paid["customer_id"], paid["amount"], paid["on_account"]) == (customer.id, 1000, float(1000 - due))
    assert paid["allocations"] == [{"invoice": number, "amount": float(due)}]
    assert paid["why"] == f"the reference names invoice {number}"
    assert due_of(office.service, number) == due
    done = imported(staff, text)
    assert (done["recorded"], done["payments_out"], len(done["unplaced"])) == (1, 1, 1)
    assert due_of(office.service, number) == 0
    assert unallocated(office.service, customer) == 1000 - due
    payment = staff.get(f"/api/payment?customer_id={customer.id}").json()[0]
    assert (payment["id"], payment["reference"]) == (done["payments"][0]["payment_id"], f"ACME INV {number}")


def test_an_invoice_number_beside_the_name_of_another_customer_is_left_for_a_person(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    owner = office.service.customer(company="Nordkai Telefonbau GmbH")
    number = invoice(office, owner)
    other = office.service.customer(company="Brazewell Building Services").id
    office.service.customer(company="Quillon North"), office.service.customer(company="Quillon South")
    texts = [f"BRAZEWELL {number}", f"Quillon North, {number}", f"brazewell for NORDKAI {number}", f"QUILLON {number}",
             f"building services {number}"]  # fmt: skip
    done = imported(
        staff, HEADINGS + "".join(f"2026-06-15,1.0{n},,{text.replace(',', '')}\n" for n, text in enumerate(texts))
    )
    first, second = (line["why"] for line in done["unplaced"])
    assert first == f"the reference names customer {other} beside invoice {number} of customer {owner.id}"
    assert f"beside invoice {number} of customer {owner.id}" in second
    assert done["recorded"] == 3


def test_a_word_that_two_companies_have_in_their_names_names_neither(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    owner, other = (office.service.customer(company=name) for name in ("Foo Wexholme Limited", "Tarnside Limited"))
    number = invoice(office, owner)
    texts = [f"TARNSIDE LIMITED INV {number}", f"TARNSIDE LIMITED FOR WEXHOLME {number}"]
    done = imported(staff, HEADINGS + "".join(f"2026-06-15,1.2{n},,{text}\n" for n, text in enumerate(texts)))
    assert (done["recorded"], [line["why"] for line in done["unplaced"]]) == (
        1,
        [f"the reference names customer {other.id} beside invoice {number} of customer {owner.id}"],
    )


def test_a_customer_that_is_called_like_a_bank_writes_keeps_no_money_from_others(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    owner, other = (office.service.customer(company=name) for name in ("Sorrel & Sons", "Payment Terminals Ltd"))
    number = invoice(office, owner)
    texts = [f"INVOICE PAYMENT {number}", f"PAYMENT TERMINALS LTD {number}"]
    done = imported(staff, HEADINGS + "".join(f"2026-06-15,1.1{n},,{text}\n" for n, text in enumerate(texts)))
    assert (done["recorded"], [line["why"] for line in done["unplaced"]]) == (
        1, [f"the reference names customer {other.id} beside invoice {number} of customer {owner.id}"],
    )  # fmt: skip


def test_a_line_is_stored_once_however_often_it_is_imported(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    text = f"{HEADINGS}2026-06-14,3.00,,once {number}\n2026-06-14,4.00,,twice\n2026-06-14,4.00,,twice\n"
    first = imported(staff, text)
    assert (first["recorded"], len(first["unplaced"])) == (1, 2)
    again = imported(staff, text.replace("2026-06-14", "14/06/2026"))
    assert (again["recorded"], again["repeated"]) == (0, 1)
    ids = [line["id"] for line in first["unplaced"]]
    assert [line["id"] for line in again["unplaced"]] == ids
    assert len(set(ids)) == 2
    waiting = [line["id"] for page in pages(staff, "/api/bank-line?state=unplaced&limit=1") for line in page]
    assert [line_id for line_id in waiting if line_id in ids] == sorted(ids, reverse=True)
    staff.post(f"/api/bank-line/{ids[0]}/set-aside", json={"reason": "the landlord's"})
    third = imported(staff, text)
    assert (third["repeated"], [line["id"] for line in third["unplaced"]]) == (2, ids[1:])


def test_a_line_of_a_day_to_come_waits_and_is_recorded_once_the_day_has_come(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    now = office.service.clock.now()
    text = f"{HEADINGS}{now:%d/%m/%Y},3.00,,early {number}\n{now:%d/%m/%Y},4.00,,early and nameless\n"
    with at(office.service, now - timedelta(days=1)):
        waiting = [line["id"] for line in imported(staff, text)["unplaced"]]
        assert "after today" in line_of(staff, waiting[0])["why"]
    again = imported(staff, text)
    assert (again["recorded"], [line["id"] for line in again["unplaced"]]) == (1, waiting[1:])
    assert line_of(staff, waiting[0])["state"] == "placed"
    assert line_of(staff, waiting[1])["received_on"] == f"{now:%Y-%m-%d}"


def test_lines_of_days_to_come_that_an_older_version_stored_are_known_after_the_upgrade(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    now = office.service.clock.now()
    forms = "%d/%m/%Y", "%-d/%-m/%y", "%d %b %Y", "%d-%B-%Y", "%Y-%m-%d %H:%M"
    days = [now.strftime(form) for form in forms]
    text = HEADINGS + "".join(f"{day},5.00,,Early ECLAIR {n}\n" for n, day in enumerate([*days, "31/02/2027"]))
    with at(office.service, now - timedelta(days=1)):
        ids = [line["id"] for line in imported(staff, text)["unplaced"]]
    formerly = """
        update bank_line set identity = encode(sha256(convert_to(
            concat_ws(e'\x1f', day_written, amount, lower(reference)), 'UTF8')), 'hex')
        where id = any(%s) returning id
    """
    assert len(rows(office.service, formerly, ids)) == len(ids)
    upgrade = import_module("tradecounter.db.migrations.versions.0099_references_as_they_look")
    rows(office.service, f"{upgrade.LINES_OF_DAYS_TO_COME} returning l.id")
    assert [line["id"] for line in imported(staff, text)["unplaced"]] == ids


def test_two_equal_payments_of_a_file_are_two_lines_and_the_second_is_asked_about(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    text = HEADINGS + f"2026-06-13,2.00,,{number}\n" * 2
    [foreseen] = imported(staff, text, "?dry_run=true")["unplaced"]
    done = imported(staff, text)
    [second] = done["unplaced"]
    assert done["recorded"] == 1
    assert second["why"] == "line 2 of the file has the same reference, amount and date"
    assert foreseen["why"] == second["why"], "a dry run has no payment that it could name"
    [again] = imported(staff, text)["unplaced"]
    first = done["payments"][0]["payment_id"]
    assert again["why"].startswith(f"payment {first} of customer {customer.id} has the same reference")
    assert place(staff, second["id"], invoice=number).status_code == 409
    placed = place(staff, second["id"], invoice=number, force=True)
    assert placed.status_code == 200, placed.text
    assert placed.json()["payment"]["allocations"] == [{"invoice": number, "amount": 2}]


def test_a_payment_has_the_beginning_of_a_long_reference_without_white_space_at_its_end(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    text = f"{number} ".ljust(199, "x")
    [paid] = imported(staff, f"{HEADINGS}2026-06-13,2.00,,{text} and more\n")["payments"]
    assert rows(office.service, "select reference from payment where id = %s", paid["payment_id"]) == [(text,)]


def test_a_line_that_waited_is_placed_when_its_invoice_exists(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    [(last,)] = rows(office.service, "select last from invoice_number")
    text = f"{HEADINGS}2026-06-12,1.50,,INV {last + 1}\n"
    assert imported(staff, text)["recorded"] == 0
    assert invoice(office, customer) == last + 1
    again = imported(staff, text)
    assert (again["recorded"], again["payments"][0]["allocations"]) == (1, [{"invoice": last + 1, "amount": 1.5}])


def test_a_line_that_waits_for_another_reason_has_changed_and_waits_since_its_file_came(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    now = office.service.clock.now()
    long_ago = now - timedelta(days=400)
    [(last,)] = rows(office.service, "select last from invoice_number")
    text = f"{long_ago:%Y-%m-%d},1.60,,INV {last + 1}\n"
    with at(office.service, long_ago):
        line = unplaced(staff, text)

    def changed() -> list[str]:
        found = staff.get("/api/bank-line", params={"changed_since": now.isoformat(), "limit": 1000}).json()
        return [each["why"] for each in found if each["id"] == line]

    assert unplaced(staff, text) == line
    assert changed() == []
    number = invoice(office, customer)
    pay_in(office.service, customer, str(due_of(office.service, number)), number)
    assert unplaced(staff, text) == line
    assert changed() == [f"nothing is due of invoice {number}"]
    assert office.service.in_transaction(lines_waiting).oldest == long_ago
    staff.post(f"/api/bank-line/{line}/set-aside", json={"reason": "a test"}).raise_for_status()


def test_each_line_of_a_file_pays_what_the_lines_before_it_have_left(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    older, newer = invoice(office, customer), invoice(office, customer)
    first, second = due_of(office.service, older), due_of(office.service, newer)
    taught = unplaced(staff, "2026-06-10,0.01,Regular payer,\n")
    assert place(staff, taught, invoice=older).status_code == 200
    lines = ["10.00,Regular payer,a", f"5.00,,INV {newer}", f"{first},Regular payer,b", f"{first},,INV {older}",
             f"{second},Regular payer,c", "1.00,Regular payer,d"]  # fmt: skip
    done = imported(staff, HEADINGS + "".join(f"2026-06-11,{line}\n" for line in lines))
    paid = [[(share["invoice"], Decimal(str(share["amount"]))) for share in each["allocations"]]
            for each in done["payments"]]  # fmt: skip
    rest = first - 10 - Decimal("0.01")
    assert paid == [
        [(older, Decimal(10))], [(newer, Decimal(5))], [(older, rest), (newer, first - rest)],
        [(newer, second - 5 - (first - rest))], [],
    ]  # fmt: skip
    assert [each["why"] for each in done["unplaced"]] == [f"nothing is due of invoice {older}"]
    assert due_of(office.service, older) == due_of(office.service, newer) == 0


def test_money_of_a_reversed_payment_waits_since_the_reversal(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    long_ago = office.service.clock.now() - timedelta(days=500)
    number = invoice(office, customer)
    with at(office.service, long_ago):
        [payment] = imported(staff, f"{HEADINGS}{long_ago:%Y-%m-%d},1.70,,INV {number}\n")["payments"]
    path = f"/api/payment/{payment['payment_id']}/reverse"
    staff.post(path, json={"reason": "wrong customer"}).raise_for_status()
    oldest = office.service.in_transaction(lines_waiting).oldest
    assert oldest is not None
    assert oldest > long_ago


def test_money_is_placed_by_hand_after_a_preview(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    line_id = unplaced(staff, "2026-06-15,5.25,,for the phones\n")
    dry = place(staff, line_id, "?dry_run=true", customer_id=customer.id)
    assert dry.json()["payment"]["allocations"] == [{"invoice": number, "amount": 5.25}]
    assert line_of(staff, line_id)["state"] == "unplaced"
    placed = place(staff, line_id, customer_id=customer.id).json()
    assert (placed["state"], placed["customer_id"], placed["why"]) == ("placed", customer.id, "placed by hand")
    assert placed["payment"]["received_on"] == "2026-06-15"
    assert place(staff, line_id, customer_id=customer.id).status_code == 409
    assert staff.post(f"/api/bank-line/{line_id}/set-aside", json={"reason": "x"}).status_code == 409
    wrong: dict[str, int]
    for wrong in ({}, {"customer_id": 1, "invoice": 1}):
        other = unplaced(staff, f"2026-06-15,5.25,,{wrong}\n")
        assert place(staff, other, "", **wrong).status_code == 400
    assert place(staff, 999999, customer_id=customer.id).status_code == 404
    assert place(staff, unplaced(staff, "2026-06-15,5.25,,nobody\n"), customer_id=999999).status_code == 404


def test_a_line_whose_amount_and_day_cannot_be_read_is_placed_with_what_someone_reads(
    staff: httpx2.Client, customer: Customer
) -> None:
    line_id = unplaced(staff, "2026-06-15,1,234.56,THANKS\n".replace("THANKS", "A,THANKS"))
    shown = line_of(staff, line_id)
    assert (shown["pounds"], shown["received_on"], shown["why"]) == (None, None, "it has 5 cells under 4 headings")
    rejected = place(staff, line_id, customer_id=customer.id)
    assert (rejected.status_code, rejected.json()["message"]) == (
        400, "amount: is required: it could not be read from the file"
    )  # fmt: skip
    slip = place(staff, line_id, customer_id=customer.id, amount=1234.56, received_on="0026-06-15")
    assert (slip.status_code, slip.json()["message"]) == (400, "received_on: must not be before 2000-01-01")
    body = {"customer_id": customer.id, "amount": 1234.56, "received_on": "2026-06-15"}
    assert place(staff, line_id, "", **body).json()["payment"]["amount"] == 1234.56
    readable = unplaced(staff, "2026-06-15,3.00,,legible\n")
    assert place(staff, readable, customer_id=customer.id, amount=4).status_code == 400
    assert place(staff, readable, customer_id=customer.id, amount=3).status_code == 200


def test_what_someone_placed_by_hand_teaches_where_later_money_goes(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    first = unplaced(staff, "2026-06-01,10.00,Harbour Ltd,rent\n")
    assert imported(staff, f"{HEADINGS}2026-06-02,11.00,HARBOUR LTD,more\n")["recorded"] == 0
    place(staff, first, customer_id=customer.id)
    done = imported(staff, f"{HEADINGS}2026-06-03,12.00,HARBOUR LTD,yet more\n2026-06-03,1.00,Harbour,x\n")
    [paid] = done["payments"]
    assert (paid["customer_id"], paid["why"]) == (customer.id, "its payer's earlier money was placed here by hand")
    another = office.service.customer()
    doubtful = unplaced(staff, "2026-06-04,13.00,Harbour Ltd.,by mistake\n")
    place(staff, doubtful, customer_id=another.id)
    number = invoice(office, another)
    imported(staff, f"{HEADINGS}2026-06-05,14.00,Harbour Ltd,INV {number}\n")
    ambiguous = imported(staff, f"{HEADINGS}2026-06-06,15.00,Harbour Ltd,x\n")
    assert ambiguous["recorded"] == 0, "two customers pay under this name"


def test_money_of_a_reversed_payment_waits_again_and_is_not_recorded_by_itself(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    text = f"{HEADINGS}2026-06-11,6.00,,INV {number}\n"
    payment = imported(staff, text)["payments"][0]["payment_id"]
    staff.post(f"/api/payment/{payment}/reverse", json={"reason": "wrong customer"}).raise_for_status()
    again = imported(staff, text)
    [line] = again["unplaced"]
    assert (again["recorded"], line["why"]) == (0, f"payment {payment} was reversed: wrong customer")
    assert place(staff, line["id"], customer_id=office.service.customer().id).status_code == 200


def test_a_payment_that_was_recorded_by_hand_is_not_recorded_again(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    pay_in(
        office.service,
        customer,
        "8.00",
        number,
        reference=f"inv {number}",
        received_on=office.service.clock.now().date(),
    )
    [line] = imported(staff, f"date,amount,reference\n2026-06-16,8.00,INV {number}\n")["unplaced"]
    assert "same reference, amount and date" in line["why"]


def test_a_bank_file_is_rolled_back_and_can_be_imported_again(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    due = due_of(office.service, number)
    text = f"{HEADINGS}2026-06-10,9.00,,INV {number}\n2026-06-10,9.50,,who was it\n"
    done = imported(staff, text)
    back = f"/api/bank-file/{done['id']}/roll-back"
    undone = staff.post(back).json()
    assert (undone["reversed"], undone["kept"]) == ([done["payments"][0]["payment_id"]], [])
    assert due_of(office.service, number) == due
    assert staff.get(f"/api/bank-line?bank_file={done['id']}").json() == []
    assert staff.post(back).status_code == 409
    again = imported(staff, text)
    assert again["recorded"] == 1
    place(staff, again["unplaced"][0]["id"], customer_id=customer.id)
    back = f"/api/bank-file/{again['id']}/roll-back"
    rejected = staff.post(back)
    assert (rejected.status_code, rejected.json()["errors"][0]["field"]) == (409, "line 3")
    forced = staff.post(f"{back}?force=true").json()
    assert (len(forced["reversed"]), forced["kept"]) == (1, [again["unplaced"][0]["id"]])
    assert line_of(staff, forced["kept"][0])["state"] == "placed"
    listed = [file["id"] for page in pages(staff, "/api/bank-file?limit=1") for file in page]
    assert listed == sorted(listed, reverse=True)
    assert {done["id"], again["id"]} <= set(listed)


def test_a_line_that_waited_before_waits_again_after_a_roll_back(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    [(last,)] = rows(office.service, "select last from invoice_number")
    text = f"{HEADINGS}2026-06-09,1.75,,INV {last + 1}\n"
    [line] = imported(staff, text)["unplaced"]
    invoice(office, customer)
    placed_by = imported(staff, text)["id"]
    staff.post(f"/api/bank-file/{placed_by}/roll-back").raise_for_status()
    assert (line_of(staff, line["id"])["state"], line_of(staff, line["id"])["payment_id"]) == ("unplaced", None)
    assert imported(staff, text)["recorded"] == 1


def test_a_line_that_another_file_has_too_waits_after_a_roll_back_of_the_first(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    placed, waiting = f"2026-06-09,2.15,,INV {invoice(office, customer)}\n", "2026-06-09,2.25,,nobody knows\n"
    first = imported(staff, f"{HEADINGS}2026-06-08,2.35,,first alone\n{placed}{waiting}")
    second = imported(staff, f"{HEADINGS}{waiting}{placed}")
    staff.post(f"/api/bank-file/{first['id']}/roll-back").raise_for_status()
    left = staff.get("/api/bank-line", params={"bank_file": second["id"]}).json()
    assert sorted((line["line"], line["amount"], line["state"], line["bank_file"]) for line in left) == [
        (2, "2.25", "unplaced", second["id"]),
        (3, "2.15", "unplaced", second["id"]),
    ]
    assert imported(staff, HEADINGS + placed)["recorded"] == 1
    assert staff.get("/api/bank-line", params={"bank_file": first["id"]}).json() == []


def test_columns_are_mapped_and_workbooks_and_json_lines_are_taken(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    number = invoice(office, office.service.customer())
    text = f"When,How much,Why\n2026-06-08,1.25,{number}\n"
    rejected = send(staff, text)
    assert (rejected.status_code, "there is no column for the amount" in rejected.json()["message"]) == (400, True)
    query = "?map=When=date&map=How%20much=amount,Why=reference"
    assert imported(staff, text, query)["columns"] == {"date": "When", "amount": "How much", "reference": "Why"}
    assert send(staff, text, "?map=When=moment").json()["message"].startswith("map: 'When=moment'")
    book, file = Workbook(), io.BytesIO()
    for row in (["Date", "Amount", "Reference"], ["16/06/2026", 1.35, f"INV {number}"]):
        book.active.append(row)
    book.save(file)
    done = staff.post("/api/payment/import", content=file.getvalue(), headers=XLSX).json()
    assert [paid["amount"] for paid in done["payments"]] == [1.35]
    json_line = f'{{"date": "2026-06-08", "amount": 1.45, "reference": "{number}"}}\n'
    done = staff.post("/api/payment/import", content=json_line, headers={"Content-Type": "application/jsonl"}).json()
    assert [paid["amount"] for paid in done["payments"]] == [1.45]
    assert (
        staff.post("/api/payment/import", content=json_line, headers={"Content-Type": "text/html"}).status_code == 415
    )


def test_a_bank_file_is_recorded_once_for_a_key_and_a_dry_run_uses_none(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    text, key = f"{HEADINGS}2026-06-07,0.75,,{number}\n", {"Idempotency-Key": f"bank-{number}"}
    send(staff, text, "?dry_run=true", **key)
    first, second = (send(staff, text, **key) for _ in range(2))
    assert first.json()["recorded"] == 1
    assert (second.content, second.headers["Idempotent-Replay"]) == (first.content, "true")
    assert send(staff, text + "x", **key).status_code == 400


def test_the_same_file_at_the_same_time_is_recorded_once(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    text = HEADINGS + "".join(f"2026-06-06,0.{n:02},,INV {number} no {n}\n" for n in range(10, 20))
    text += "".join(f"2026-06-06,3.{n:02},,lost {number} {n}\n".replace(str(number), "") for n in range(10, 20))
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: imported(staff, text), range(4)))
    assert sorted(each["recorded"] for each in done) == [0, 0, 0, 10]
    assert len({line["id"] for each in done for line in each["unplaced"]}) == 10
    [(count,)] = rows(office.service, "select count(*) from payment where customer_id = %s", customer.id)
    assert count == 10


def test_a_line_is_placed_once_by_several_at_the_same_time(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    line_id = unplaced(staff, "2026-06-06,44.00,,everybody wants it\n")
    others = [customer, *(office.service.customer() for _ in range(3))]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda each: place(staff, line_id, customer_id=each.id).status_code, others))
    assert sorted(done) == [200, 409, 409, 409]
    assert sum(unallocated(office.service, each) for each in others) == Decimal(44)


def test_a_line_that_a_roll_back_takes_away_meanwhile_is_not_found(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    line_id, url = unplaced(staff, "2026-06-06,45.00,,of a file that is rolled back\n"), office.service.database_url
    with ThreadPoolExecutor(1) as pool, psycopg.connect(url) as roll_back:
        roll_back.execute("delete from bank_line where id = %s", [line_id])
        placing = pool.submit(place, staff, line_id, customer_id=customer.id)
        waiting_for_a_lock(url)
        roll_back.commit()
        assert placing.result().status_code == 404
    assert unallocated(office.service, customer) == 0


def test_setting_a_line_aside_needs_a_reason_and_can_be_taken_back(staff: httpx2.Client, customer: Customer) -> None:
    line_id = unplaced(staff, "2026-06-05,2.00,,a refund of the landlord\n")
    aside = f"/api/bank-line/{line_id}/set-aside"
    assert staff.post(aside, json={"reason": "  "}).status_code == 400
    done = staff.post(aside, json={"reason": "not ours"}).json()
    assert (done["state"], done["why"]) == ("set_aside", "not ours")
    assert staff.post(aside, json={"reason": "again"}).status_code == 409
    assert place(staff, line_id, customer_id=customer.id).status_code == 200
