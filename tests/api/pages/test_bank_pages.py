"""The staff's pages of bank files and of unplaced money."""

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.billing import due_of, invoiced, number_of, pay_in, unallocated
from support.orders import rows
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Customer


@pytest.fixture(scope="module")
def fran(office: BackOfficeSite) -> Person:
    """Someone from finance."""
    return staff_member(office.service, office.url, "finance")


@pytest.fixture
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(company="Payers & <Co>")


def invoice(office: BackOfficeSite, customer: Customer) -> int:
    return number_of(office.service, invoiced(office.service, customer))


NO_FILE = b'--b\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n--b--\r\n'  # as browsers send it


def upload(person: Person, content: str, name: str = "bank.csv") -> httpx2.Response:
    """The response to a file."""
    files = {"file": (name, content.encode(), "text/csv")}
    headers = {"Sec-Fetch-Site": "same-origin"}
    return person.http.post("/payment/import", data={"once": ""}, files=files, headers=headers)


def checked(person: Person, content: str) -> str:
    """The path of the page that says what a file would pay."""
    response = upload(person, content)
    assert response.status_code == 303, response.text
    return response.headers["Location"]


def recorded(person: Person, content: str) -> httpx2.Response:
    """The page of a file that is recorded."""
    return person.sends(f"{checked(person, content)}/apply")


def payments(office: BackOfficeSite, customer: Customer) -> int:
    [(count,)] = rows(office.service, "select count(*) from payment where customer_id = %s", customer.id)
    return int(count)


def waiting(office: BackOfficeSite) -> int:
    [(last,)] = rows(office.service, "select max(id) from bank_line where state = 'unplaced'")
    return int(last)


def test_a_bank_file_shows_what_it_pays_before_it_is_recorded(
    office: BackOfficeSite, fran: Person, customer: Customer
) -> None:
    number = invoice(office, customer)
    due = due_of(office.service, number)
    file = (
        f'date,amount,reference\n15/06/2026,"1,000.00",Invoice {number}\n2026-06-15,7.50,<i>who</i>\n'
        f"soon,1.00,{number}\n2026-06-15,-3.00,rent\n"
    )
    path = checked(fran, file)
    page = fran.get(path)
    text = text_of(page)
    for part in (
        "Nothing is recorded yet", "£1,000.00", f"£{due} of invoice {number}", f"£{1000 - due} stays on the account",
        "Payers & <Co>", "<i>who</i>", "The reference has no number of an invoice", "is not YYYY-MM-DD",
        "Record 1 payment",
    ):  # fmt: skip
        assert part in text
    assert "<i>who" not in page.text
    assert payments(office, customer) == 0
    done = fran.sends(f"{path}/apply")
    assert "1 payment is recorded. 2 lines could not be placed." in text_of(done)
    assert due_of(office.service, number) == 0
    assert fran.send(f"{path}/apply").headers["Location"] == str(done.url).removeprefix(office.url)
    assert fran.get(path).status_code == 303
    assert payments(office, customer) == 1
    again = text_of(fran.get(checked(fran, file)))
    assert "Imported before" in again
    assert "Store what cannot be placed" in again


def test_each_page_of_bank_files_has_the_tabs_of_money(fran: Person) -> None:
    check = checked(fran, "date,amount,reference\n2026-06-15,7.50,a tabbed file\n")
    seen = [fran.get("/payment/import"), fran.get(check), fran.sends(f"{check}/apply"), fran.get("/bank-file")]
    for page in seen:
        tabs = page.text.split('aria-label="Money"')[1].split("</nav>")[0]
        assert '<a href="/bank-file" aria-current="page">Bank files</a>' in tabs
        assert '<a href="/money">Debtors</a>' in tabs


def test_a_long_text_of_a_payer_is_whole_before_it_is_recorded_and_cut_in_lists(
    office: BackOfficeSite, fran: Person, customer: Customer
) -> None:
    number = invoice(office, customer)
    long = " ".join(f"word{each}" for each in range(40))
    path = checked(fran, f"date,amount,reference\n2026-06-15,5.00,{number} {long} paid\n2026-06-15,5.01,{long} lost\n")
    page = text_of(fran.get(path))
    assert f"{number} {long} paid" in page
    assert f"{long} lost" in page
    stored = text_of(fran.sends(f"{path}/apply"))
    for listed in (stored, text_of(fran.get("/bank-line?reference=word39"))):
        assert f"{long[:100]}" in listed
        assert "word39 lost" not in listed.replace("Reference word39", "")
        assert "…" in listed
        assert "..." not in listed
    assert f"{long} lost" in text_of(fran.get(f"/bank-line/{waiting(office)}"))


def test_a_file_that_would_do_something_else_by_now_is_shown_again(
    office: BackOfficeSite, fran: Person, customer: Customer
) -> None:
    number = invoice(office, customer)
    path = checked(fran, f"date,amount,reference\n2026-06-15,5.00,{number}\n")
    pay_in(office.service, customer, str(due_of(office.service, number)), number)
    rejected = fran.send(f"{path}/apply")
    assert rejected.status_code == 409
    assert "something has changed since you looked" in text_of(rejected).lower()
    assert f"Nothing is due of invoice {number}" in text_of(rejected)
    assert payments(office, customer) == 1
    assert "No payment is recorded. 1 line could not be placed." in text_of(fran.sends(f"{path}/apply"))


def test_a_file_with_two_equal_lines_is_recorded(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    """The second is a duplicate of the payment for the first, which has another id in the preview."""
    line = f"2026-06-15,1.00,Invoice {invoice(office, customer)}\n"
    done = recorded(fran, f"date,amount,reference\n{line}{line}")
    assert "1 payment is recorded. 1 line could not be placed." in text_of(done)
    assert payments(office, customer) == 1


def test_columns_that_are_not_known_are_chosen_on_the_page(
    office: BackOfficeSite, fran: Person, customer: Customer
) -> None:
    number = invoice(office, customer)
    path = checked(fran, f"When,How much,Why\n2026-06-15,5.00,{number}\n")
    page = fran.get(path)
    assert "there is no column for the amount" in text_of(page)
    fields = {"date": "When", "amount": "How much", "reference": "Why"}
    twice = fran.send(path, {**fields, "date": "Why"})
    assert (twice.status_code, "ust be another column than" in text_of(twice)) == (400, True)
    assert "there is no column for the amount" in text_of(fran.get(path))
    assert f"£5.00 of invoice {number}" in text_of(fran.sends(path, fields))
    assert "is discarded" in text_of(fran.sends(f"{path}/discard"))
    assert fran.get(path).status_code == 404


def test_a_file_that_cannot_be_read_is_rejected(fran: Person) -> None:
    headers = {"Sec-Fetch-Site": "same-origin", "Content-Type": "multipart/form-data; boundary=b"}
    without = fran.http.post("/payment/import", content=NO_FILE, headers=headers)
    assert "File is required" in text_of(without)
    assert 'id="form-file-error"' in without.text
    assert "save it as .xlsx" in text_of(upload(fran, "x", "bank.xls"))
    broken = fran.get(checked(fran, 'date,amount,reference\n2026-06-15,0.01,"INV 1\n2026-06-15,200.22,x\n'))
    assert "Line 2: not CSV" in text_of(broken)
    assert "/apply" not in broken.text
    other = "date,amount,reference\n2026-06-15,5.00,x\n"
    assert staff_sees_nothing_of(fran, other)


def staff_sees_nothing_of(fran: Person, content: str) -> bool:
    """Whether an uploaded file is its owner's alone."""
    path = checked(fran, content)
    return fran.http.get(path, headers={"Cookie": ""}).status_code != 200


def test_money_that_waits_is_placed_after_a_preview(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    number = invoice(office, customer)
    due = due_of(office.service, number)
    recorded(fran, f"date,amount,reference\n2026-06-15,{due},for <b>phones\n")
    line = f"/bank-line/{waiting(office)}"
    listed = fran.get("/bank-line")
    assert f'href="{line}"' in listed.text
    assert "for <b>phones" in text_of(listed)
    assert "<b>phones" not in listed.text
    page = fran.get(line)
    assert f"Invoice {number} has exactly this amount due" in text_of(page)
    fields = fields_of(fran.get(f"{line}?invoice={number}"))
    assert fields["invoice"] == str(number)
    preview = fran.send(f"{line}/place", {**fields, "preview": "true"})
    assert f"£{due} of Payers & <Co> {customer.id} £{due} pays invoice {number} in full" in text_of(preview)
    assert payments(office, customer) == 0
    both = fran.send(f"{line}/place", {**fields, "customer_id": str(customer.id)})
    assert "form-invoice-error" in both.text
    assert f"is recorded for invoice {number}." in text_of(fran.confirms(f"{line}/place", fields))
    assert f"£{due}" in text_of(fran.get("/bank-line?state=placed"))
    assert "placed the line" in text_of(fran.get(line))
    assert fran.send(f"{line}/place", {**fields, "customer_id": "", "once": "2"}).status_code == 409


def test_a_line_that_could_not_be_read_asks_for_its_amount(
    office: BackOfficeSite, fran: Person, customer: Customer
) -> None:
    recorded(fran, "date;amount;reference\n24/05/2026;0,75;by hand\n")
    line = f"/bank-line/{waiting(office)}"
    fields = fields_of(fran.get(line)) | {"customer_id": str(customer.id)}
    assert fields["amount"] == ""
    assert "received_on" not in fields
    assert "form-amount-error" in fran.send(f"{line}/place", fields).text
    fran.confirms(f"{line}/place", {**fields, "amount": "0.75"})
    assert str(unallocated(office.service, customer)) == "0.75"


def test_a_line_is_set_aside_with_a_reason(office: BackOfficeSite, fran: Person) -> None:
    recorded(fran, "date,amount,reference\n2026-06-01,9.99,the landlord\n")
    line = f"/bank-line/{waiting(office)}"
    assert "form-reason-error" in fran.send(f"{line}/set-aside", {"reason": " "}).text
    fran.sends(f"{line}/set-aside", {"reason": "<b>not ours"})
    page = fran.get(line)
    assert "set the line aside" in text_of(page)
    assert "<b>not" not in page.text
    assert fran.get("/bank-line?state=set_aside&format=csv").text.count("the landlord") == 1
    assert "the landlord" not in fran.get("/bank-line").text


def test_a_bank_file_is_rolled_back_on_its_page(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    number = invoice(office, customer)
    due = due_of(office.service, number)
    done = recorded(fran, f"date,amount,reference\n2026-06-02,5,{number}\n2026-06-02,6,Y Y Y\n")
    path = str(done.url).removeprefix(office.url)
    assert "bank.csv" in text_of(fran.get("/bank-file"))
    line = f"/bank-line/{waiting(office)}"
    fran.confirms(f"{line}/place", {"customer_id": str(customer.id), "once": "3"})
    rejected = fran.send(f"{path}/roll-back")
    assert (rejected.status_code, "Line 3 has changed since" in text_of(rejected)) == (409, True)
    assert "1 line stayed" in text_of(fran.sends(f"{path}/roll-back", {"force": "true", "once": "4"}))
    assert due_of(office.service, number) == due - 6
    assert "rolled back" in text_of(fran.get(path)).lower()


def test_money_that_waits_shows_on_today_for_finance(fran: Person) -> None:
    recorded(fran, "date,amount,reference\n2026-06-03,1.11,nobody knows\n")
    page = fran.get("/")
    assert 'href="/bank-line"' in page.text
    assert "of bank files to place" in text_of(page)
    assert 'href="/bank-line"' in fran.get("/payment").text


def test_support_sees_bank_files_and_changes_nothing(office: BackOfficeSite, fran: Person) -> None:
    done = recorded(fran, "date,amount,reference\n2026-06-04,1.12,nobody\n")
    file, line = str(done.url).removeprefix(office.url), f"/bank-line/{waiting(office)}"
    sue = staff_member(office.service, office.url, "support")
    assert "/place" not in sue.get(line).text
    assert "/roll-back" not in sue.get(file).text
    assert sue.get("/bank-line").status_code == 200
    for path in ("/payment/import", f"{line}/place", f"{line}/set-aside", f"{file}/roll-back"):
        assert sue.get(path).status_code == 403
        assert sue.send(path).status_code == 403


def test_money_is_placed_with_a_customer_by_name(office: BackOfficeSite, fran: Person) -> None:
    named = office.service.customer(company="Unmistakable Payers")
    recorded(fran, "date,amount,reference\n2026-06-15,1.25,from them\n")
    line = f"/bank-line/{waiting(office)}"
    fields = fields_of(fran.get(line)) | {"customer_id": "unmistakable"}
    fran.confirms(f"{line}/place", fields)
    assert payments(office, named) == 1
