"""Customers tell which invoices they have paid, and a bank file places the money by it."""

import re
import time
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest

from support.backoffice import BackOfficeSite
from support.billing import due_of, invoiced, number_of, pay_in
from support.orders import at, faults_in_the_books, rows
from support.pages import Person, customer_user, staff_member, text_of
from support.service import Customer, Service
from tradecounter.billing.queries.invoice_records import invoices_to_pay
from tradecounter.kit.clock import uk_date
from tradecounter.payments.bank_file import read_bank_file
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.place_bank_line import Placement, place_bank_line
from tradecounter.payments.record_payment import reverse_payment
from tradecounter.payments.remittances import AWAITED_FOR, PaidInvoices, announce_payment

PATH = "/account/invoice/remittance"


@pytest.fixture
def payer(shop: Service, customer: Customer) -> Person:
    """The customer's user who pays."""
    return customer_user(shop, customer.id, "accounts")


@pytest.fixture(autouse=True)
def _books(shop: Service) -> Iterator[None]:
    yield
    assert faults_in_the_books(shop) == {}


def invoices(shop: Service, customer: Customer, count: int = 2) -> list[int]:
    return [number_of(shop, invoiced(shop, customer, ("PHONE", 1))) for _ in range(count)]


def tell(person: Person, numbers: list[int], **fields: str) -> str:
    """What the page says once a payment was announced."""
    return text_of(person.sends(PATH, {"once": "", "invoices": [str(number) for number in numbers], **fields}))


def bank(shop: Service, *lines: str) -> Any:
    """What comes of a bank file with these lines."""
    text = "date,amount,payee,reference\n" + "".join(f"{uk_date(shop.clock.now())},{line}\n" for line in lines)
    file = read_bank_file(text.encode(), "CSV", uk_date(shop.clock.now()))
    return shop.in_transaction(lambda tx: import_payments(tx, file, shop.clock.now()))


def test_what_is_overdue_is_ticked_for_who_has_paid_it(shop: Service, customer: Customer, payer: Person) -> None:
    with at(shop, shop.clock.now() - timedelta(days=60)):
        late, told = invoices(shop, customer)
    new = invoices(shop, customer, 1)[0]
    tell(payer, [told])

    def ticked(path: str) -> list[bool]:
        page = payer.get(path).text
        return [bool(re.search(f'value="{number}"[^>]* checked', page)) for number in (late, told, new)]

    assert ticked(PATH) == [False, False, False]
    assert ticked(f"{PATH}?show=overdue") == [True, False, False]


def test_what_is_due_first_is_listed_first(shop: Service, customer: Customer, payer: Person) -> None:
    new = invoices(shop, customer, 1)[0]
    with at(shop, shop.clock.now() - timedelta(days=60)):
        late = invoices(shop, customer, 1)[0]
    listed = re.findall(r'name="invoices" type="checkbox" value="(\d+)"', payer.get(PATH).text)
    assert listed == [str(late), str(new)]
    first = shop.in_transaction(lambda tx: invoices_to_pay(tx, customer.id, 1))
    assert [invoice.number for invoice in first] == [late]


def test_what_the_customer_has_told_to_be_paid_is_not_asked_for_again(
    shop: Service, customer: Customer, payer: Person
) -> None:
    with at(shop, shop.clock.now() - timedelta(days=60)):
        one, other = invoices(shop, customer)
    due = {number: f"£{due_of(shop, number):,.2f}" for number in (one, other)}
    assert "Pay what is overdue" in text_of(payer.get("/account"))
    tell(payer, [one])
    page = text_of(payer.get("/account/invoice"))
    assert f"placed at once: Invoice {other} The amount in pounds: {due[other][1:]} " in page
    assert f"You have told us that you have paid {due[one]} of what is overdue." in page
    assert f"Pay what is overdue {due[other]}" in text_of(payer.get("/account"))
    tell(payer, [other])
    for path in ("/account", "/account/invoice"):
        page = text_of(payer.get(path))
        assert "Pay what is overdue" not in page
        assert "£133.20 Overdue" in page


def test_money_is_placed_by_the_reference_that_the_customer_has_told(
    shop: Service, customer: Customer, payer: Person
) -> None:
    numbers = invoices(shop, customer, 3)
    due = sum(due_of(shop, number) for number in numbers[1:])
    said = tell(payer, numbers[1:], reference="Payment run 117")
    assert f"{due:,.2f} pays these invoices" in said
    assert "waiting" in said.lower()
    done = bank(shop, f"{due},Someone,PAYMENT-RUN 117 / ACME")
    assert done.recorded == 1
    assert "announced this payment" in done.payments[0].why
    assert [due_of(shop, number) for number in numbers[1:]] == [0, 0]
    assert due_of(shop, numbers[0]) > 0
    assert "received" in text_of(payer.get(PATH)).lower()


def test_money_of_a_known_payer_pays_what_it_has_told_of(shop: Service, customer: Customer, payer: Person) -> None:
    older, newer = invoices(shop, customer)
    [line] = bank(shop, "1.00,Known payer Ltd,").unplaced
    placement = Placement(customer_id=customer.id)
    shop.in_transaction(lambda tx: place_bank_line(tx, line.id, placement, shop.clock.now()))
    due = due_of(shop, newer)
    tell(payer, [newer])
    assert bank(shop, f"{due},Known payer Ltd,").recorded == 1
    assert due_of(shop, newer) == 0
    assert due_of(shop, older) > 0


def test_the_amount_alone_places_nothing_but_is_said(shop: Service, customer: Customer, payer: Person) -> None:
    [number] = invoices(shop, customer, 1)
    tell(payer, [number], amount="77.31", reference="abc")
    done = bank(shop, "77.31,Somebody,abc", "77.32,Somebody,abc")
    assert done.recorded == 0
    assert f"customers who announced this amount: {customer.id}" in done.unplaced[0].why
    assert "told" not in done.unplaced[1].why


def test_one_payment_that_was_told_is_one_line(shop: Service, customer: Customer, payer: Person) -> None:
    [number] = invoices(shop, customer, 1)
    tell(payer, [number], amount="5.55", reference="once only")
    done = bank(shop, "5.55,A,once only 1", "5.55,B,once only 2")
    assert done.recorded == 1


def test_two_colleagues_may_tell_of_one_payment(shop: Service, customer: Customer, payer: Person) -> None:
    numbers = invoices(shop, customer)
    colleague = customer_user(shop, customer.id, "accounts")
    due = sum(due_of(shop, number) for number in numbers)
    tell(payer, numbers, reference="Told twice 4711")
    tell(colleague, numbers[::-1], reference="told-twice 4711")
    assert bank(shop, f"{due},Someone,Told twice 4711").recorded == 1
    assert [due_of(shop, number) for number in numbers] == [0, 0]


def test_what_two_customers_or_two_lists_of_invoices_fit_is_placed_for_none(
    shop: Service, customer: Customer, payer: Person
) -> None:
    one, other = invoices(shop, customer)
    for number in (one, other):
        tell(payer, [number], amount="7.00", reference="Not evident 4712")
    assert bank(shop, "7.00,Someone,Not evident 4712").recorded == 0
    stranger = shop.customer()
    [foreign] = invoices(shop, stranger, 1)
    tell(payer, [one], amount="8.00", reference="Not evident 4713")
    tell(customer_user(shop, stranger.id, "accounts"), [foreign], amount="8.00", reference="Not evident 4713")
    assert bank(shop, "8.00,Someone,Not evident 4713").recorded == 0


def test_a_reversed_payment_is_awaited_again(shop: Service, customer: Customer, payer: Person) -> None:
    [number] = invoices(shop, customer, 1)
    due = due_of(shop, number)
    tell(payer, [number], reference="bounced 9")
    payment = bank(shop, f"{due},C,bounced 9").payments[0].payment_id
    shop.in_transaction(lambda tx: reverse_payment(tx, payment, "bounced", shop.clock.now()))
    assert "waiting" in text_of(payer.get(PATH)).lower()
    assert bank(shop, f"{due},C,bounced 9 again").recorded == 1


def test_what_was_paid_by_another_way_is_not_awaited(shop: Service, customer: Customer, payer: Person) -> None:
    [number] = invoices(shop, customer, 1)
    due = due_of(shop, number)
    tell(payer, [number], reference="by card then")
    pay_in(shop, customer, str(due), number)
    assert "paid otherwise" in text_of(payer.get(PATH)).lower()
    assert bank(shop, f"{due},D,by card then").recorded == 0


def test_many_lines_and_announced_payments_of_one_amount_take_no_time_for_each_pair(
    shop: Service, customer: Customer
) -> None:
    [number] = invoices(shop, customer, 1)
    announced = """
        insert into remittance (customer_id, amount, paid_on, reference, invoices, told_at)
        select %s, 50, %s::date, 'Standing order of flat ' || n, array[%s::bigint], %s
        from generate_series(1, 1000) as n returning id
    """
    now = shop.clock.now()
    told = rows(shop, announced, customer.id, uk_date(now), number, now)
    began = time.process_time()
    done = bank(shop, *(f"50.00,,rent of house x{place}y" for place in range(1000)))
    assert time.process_time() - began < 2
    assert (done.recorded, len(done.unplaced)) == (0, 1000)
    rows(shop, "delete from remittance where id = any(%s) returning id", [each for (each,) in told])


def test_an_announced_payment_that_bank_files_no_longer_await_does_not_wait(
    shop: Service, customer: Customer, payer: Person
) -> None:
    long_ago = shop.clock.now() - AWAITED_FOR - timedelta(days=1)
    with at(shop, long_ago):
        [number] = invoices(shop, customer, 1)
        paid = PaidInvoices(invoices=[number], reference="never sent 7")
        shop.in_transaction(lambda tx: announce_payment(tx, customer.id, None, paid, long_ago))
    page = text_of(payer.get(PATH)).lower()
    assert "not arrived" in page
    assert "waiting" not in page
    assert bank(shop, f"{due_of(shop, number)},D,never sent 7").recorded == 0


def test_debtors_show_what_was_told_and_it_can_be_taken_back(
    shop: Service, office: BackOfficeSite, customer: Customer, payer: Person
) -> None:
    finance = staff_member(shop, office.url, "finance")
    [number] = invoices(shop, customer, 1)
    tell(payer, [number], amount="12.34")
    assert "Says that £12.34 was paid on" in text_of(finance.get("/money?sort=-due"))
    [(told,)] = rows(shop, "select id from remittance where customer_id = %s", customer.id)
    stranger = customer_user(shop, shop.customer().id, "accounts")
    rejected = stranger.send(f"{PATH}/{told}/take-back")
    assert (rejected.status_code, f"Remittance {told} not found" in text_of(rejected)) == (404, True)
    assert "It is withdrawn." in text_of(payer.sends(f"{PATH}/{told}/take-back"))
    assert "12.34" not in text_of(finance.get("/money?sort=-due"))
    actions = rows(shop, "select action from audit_entry where subject = %s order by id", f"customer/{customer.id}")
    assert actions[-2:] == [("remittance.tell",), ("remittance.take_back",)]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"invoices": [""]}, "Invoices must include at least one that you have paid"),
        ({"invoices": ["99999999"]}, "not an unpaid invoice"),
        ({"amount": "0"}, "must be more than 0"),
        ({"amount": "-1"}, "Amount paid"),
        ({"paid_on": str(date(2020, 1, 1))}, "is more than 90 days ago"),
        ({"paid_on": str(date(2020, 1, 1) + timedelta(days=36500))}, "more than a month ahead"),
        ({"reference": "r" * 101}, "Reference of the payment"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(
    shop: Service, customer: Customer, payer: Person, fields: dict[str, Any], said: str
) -> None:
    [number] = invoices(shop, customer, 1)
    answer = payer.send(PATH, {"once": "", "invoices": [str(number)], **fields})
    assert answer.status_code == 400
    assert said in text_of(answer)
    assert rows(shop, "select count(*) from remittance where customer_id = %s", customer.id) == [(0,)]


def test_an_invoice_of_another_customer_is_unknown(shop: Service, customer: Customer, payer: Person) -> None:
    [number] = invoices(shop, shop.customer(), 1)
    invoices(shop, customer, 1)
    answer = payer.send(PATH, {"once": "", "invoices": [str(number)]})
    assert answer.status_code == 400
    assert f"Invoices {number} is not an unpaid invoice" in text_of(answer)
    assert str(number) not in text_of(payer.get(PATH))


@pytest.mark.parametrize("reference", ["Payment", "faster payment", "paym", "INVOICE"])
def test_words_of_every_payment_place_no_money(
    shop: Service, customer: Customer, payer: Person, reference: str
) -> None:
    [number] = invoices(shop, customer, 1)
    tell(payer, [number], amount="41.17", reference=reference)
    done = bank(shop, f"41.17,J Unknown,FASTER PAYMENT INVOICE {number + 5_000_000}")
    assert done.recorded == 0
    assert str(customer.id) in done.unplaced[0].why.partition("announced this amount")[2]


def test_nobody_gets_the_money_of_another_customer_by_telling_of_it(
    shop: Service, customer: Customer, payer: Person
) -> None:
    other = shop.customer(company=f"Zanzibar{customer.id} Phones")
    [number] = invoices(shop, customer, 1)
    [line] = bank(shop, f"1.00,Payer of {other.id},").unplaced
    shop.in_transaction(lambda tx: place_bank_line(tx, line.id, Placement(customer_id=other.id), shop.clock.now()))
    tell(payer, [number], amount="61.13", reference="Run 2026-05")
    tell(payer, [number], amount="61.14", reference="Run 2026-05")
    done = bank(shop, f"61.13,Zanzibar{customer.id} Phones,run 2026-05", f"61.14,Payer of {other.id},run 2026-05")
    assert done.recorded == 0
    why = f"customer {customer.id} announced this payment, but it may be of customer {other.id}"
    assert [unplaced.why for unplaced in done.unplaced] == [why, why]
