"""What the steps of the doors are about: an order, a quote, a customer …"""

from datetime import UTC, datetime
from itertools import count

from support.approvals import asked
from support.billing import invoiced, number_of, pay_in
from support.doors import About
from support.orders import at, buy, create, dispatch, sell, shipments
from support.pages import customer_user
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from tradecounter.access.staff import NewStaffMember, add_staff_member
from tradecounter.customer_notes.keep_notes import ContactDetails, add_contact
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.payments.bank_file import read_bank_file
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.wire import PaymentImport
from tradecounter.returns.handle_returns import open_return
from tradecounter.returns.wire import ReturnedUnits, ReturnRequest
from tradecounter.shipments.wire import Serial
from tradecounter.webhooks.manage import WebhookPolicy, add_webhook
from tradecounter.webhooks.wire import WebhookRequest

SELLER = {"seller_name": "Trade & Sons", "seller_address": "York", "seller_vat_number": "GB123456782"}
_NUMBERS = count(1)


def order(_service: Service, customer: Customer) -> About:
    placed = buy(customer, [("PHONE", 2)])
    return About(f"/order/{placed['order_reference']}", [placed["order_reference"]], placed["items"][0]["id"])


def dispatched_order(service: Service, customer: Customer) -> About:
    about = order(service, customer)
    serials = [Serial(about.item, "SN-1"), Serial(about.item, "SN-2")]
    dispatch(service, {"order_reference": about.words[0]}, serials=serials)
    return about


def quote(_service: Service, customer: Customer) -> About:
    code = request_quote(customer, [("PHONE", 2)])["confirmation_code"]
    return About(f"/quote/{code}", [code])


def address_book(_service: Service, customer: Customer) -> About:
    return About(f"/customer/{customer.id}/address", page=f"/customer/{customer.id}/address/new")


def keys(_service: Service, customer: Customer) -> About:
    path = f"/customer/{customer.id}/key"
    return About(path, [str(customer.id)], page=f"{path}/new")


def users(_service: Service, customer: Customer) -> About:
    path = f"/customer/{customer.id}/user"
    return About(path, [str(customer.id)], page=f"{path}/invite")


def webhook(_service: Service, _customer: Customer) -> About:
    return About("/webhook", page="/webhook/new")


def made_webhook(service: Service, _customer: Customer) -> About:
    policy, request = WebhookPolicy.from_settings(service.settings), WebhookRequest(url="https://hooks.example/")
    made = service.in_transaction(lambda tx: add_webhook(tx, policy, request, service.clock.now()))
    return About(f"/webhook/{made.id}", [str(made.id)])


def edited_webhook(service: Service, customer: Customer) -> About:
    about = made_webhook(service, customer)
    return About(about.path, about.words, page=f"{about.path}/edit")


def new_customer(_service: Service, _customer: Customer) -> About:
    return About("/customer", page="/customer/new")


def pending_order(service: Service, customer: Customer) -> About:
    with at(service, datetime.now(UTC)):  # a command has a clock of its own
        code = create(customer)["confirmation_code"]
    return About(f"/order/{code}", [code])


def amended_order(service: Service, customer: Customer) -> About:
    about = order(service, customer)
    return About(about.path, about.words, about.item, f"{about.path}/amend")


def invoiced_line(service: Service, customer: Customer) -> About:
    placed = invoiced(service, customer)
    number = str(number_of(service, placed))
    return About(f"/invoice/{number}", [number], placed["items"][0]["id"])


def the_customer(_service: Service, customer: Customer) -> About:
    return About(f"/customer/{customer.id}", [str(customer.id)])


def terms(_service: Service, customer: Customer) -> About:
    path = f"/customer/{customer.id}"
    return About(path, [str(customer.id)], page=f"{path}/trade-terms")


def people(_service: Service, customer: Customer) -> About:
    path = f"/customer/{customer.id}"
    return About(f"{path}/contact", [str(customer.id)], page=f"{path}/contact-person/new")


def shipment(service: Service, customer: Customer) -> About:
    placed = buy(customer)
    dispatch(service, placed)
    [number] = shipments(service, placed)
    reference = placed["order_reference"]
    return About(f"/order/{reference}/shipment/{number}", [reference, str(number)])


def opened_return(service: Service, customer: Customer) -> About:
    about = dispatched_order(service, customer)

    async def work(tx: Transaction) -> str:
        units = [ReturnedUnits(about.item, 2)]
        return await open_return(tx, about.words[0], ReturnRequest(units, "a test"), service.clock.now())

    number = service.in_transaction(work)
    return About(f"/return/{number}", [number], about.item)


def invoice(service: Service, customer: Customer) -> About:
    number = str(number_of(service, invoiced(service, customer)))
    return About(f"/invoice/{number}", [number])


def payments(_service: Service, _customer: Customer) -> About:
    return About("/payment", page="/payment/new")


def payment(service: Service, customer: Customer) -> About:
    number = str(pay_in(service, customer, "1.00").id)
    return About(f"/payment/{number}", [number])


def request(_service: Service, customer: Customer) -> About:
    reference = buy(customer)["order_reference"]
    asked = customer.post("/request", {"kind": "message", "order_reference": reference, "text": "When?"}).json()
    path = f"/request/{asked['id']}"
    return About(path, [str(asked["id"])], page=f"{path}/answer")


def adjustment(_service: Service, _customer: Customer) -> About:
    return About("/stock/adjustment", page="/stock-adjustment")


def new_order(_service: Service, customer: Customer) -> About:
    return About("/order", [str(customer.id)], page=f"/order/new/{customer.id}", form="order")


def priced_quote(service: Service, customer: Customer) -> About:
    with at(service, datetime.now(UTC)):
        quote = request_quote(customer, [("PHONE", 2)])
        price_as_support(service, quote, ("PHONE", "10"))
    code = quote["confirmation_code"]
    return About(f"/quote/{code}", [code])


def named_order(service: Service, customer: Customer) -> About:
    about = order(service, customer)
    return About(about.path, about.words, page=f"{about.path}/external-id")


def approval(service: Service, customer: Customer) -> About:
    code, _ = asked(service, customer)
    return About(f"/approval/{code}", [code], page=f"/account/approval/{code}/decline")


def bank_line(service: Service, _customer: Customer) -> About:
    """A line that waits, whose amount cannot be read."""
    text, now = f"date,amount,reference\n2026-06-01,much,LINE {next(_NUMBERS)}\n", service.clock.now()
    file = read_bank_file(text.encode(), "CSV", uk_date(now))

    async def work(tx: Transaction) -> PaymentImport:
        return await import_payments(tx, file, now)

    [line] = service.in_transaction(work).unplaced
    return About(f"/bank-line/{line.id}", [str(line.id)])


def remittance(service: Service, customer: Customer) -> About:
    number = number_of(service, invoiced(service, customer))
    return About("/remittance", item=number, page="/account/invoice/remittance")


def delivery(service: Service, _customer: Customer) -> About:
    sku = sell(service, f"COMING-{next(_NUMBERS)}", available=1)
    service.must_load("incoming", [{"sku": sku, "incoming": 10, "expected_on": "2026-07-01"}])
    return About("/goods-in", [sku], page="/goods-in")


def stock_count(_service: Service, _customer: Customer) -> About:
    return About("/stock/count", page="/count-sheet/return")


def contact(service: Service, customer: Customer) -> About:
    person, now = ContactDetails(name="Ada"), service.clock.now()
    made = service.in_transaction(lambda tx: add_contact(tx, customer.id, person, now)).id
    path = f"/customer/{customer.id}"
    return About(f"{path}/contact/{made}", page=f"{path}/contact-person/{made}")


def buyer(service: Service, customer: Customer) -> About:
    user = customer_user(service, customer.id, "buyer")
    return About(f"/customer/{customer.id}/user/{user.id}", [user.email], page=f"/account/user/{user.id}/role")


def saved_lists(_service: Service, customer: Customer) -> About:
    return About(f"/customer/{customer.id}/list", page="/account/list/new")


def credit_terms(_service: Service, customer: Customer) -> About:
    path = f"/customer/{customer.id}"
    return About(path, [str(customer.id)], page=f"{path}/credit-terms")


def account(_service: Service, customer: Customer) -> About:
    path = f"/customer/{customer.id}"
    return About(path, [str(customer.id)], page=f"{path}/contact")


def new_member(_service: Service, _customer: Customer) -> About:
    return About("", page="/staff/new")


def member(service: Service, _customer: Customer) -> About:
    new, now = NewStaffMember(f"m{next(_NUMBERS)}@reseller.example", "Mo", ["support"]), service.clock.now()
    made, _ = service.in_transaction(lambda tx: add_staff_member(tx, new, "s" * 64, now))
    return About("", [made.email], page=f"/staff/{made.id}/edit")


def new_token(_service: Service, _customer: Customer) -> About:
    return About("", page="/token/new")
