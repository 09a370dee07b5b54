"""Every operation of the back office that changes something leaves one entry in the audit log, by the token.

A new one has to be added here, with the action of its entry and a request that causes it.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import psycopg
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import invoiced, number_of
from support.orders import buy, create, dispatch, rows, sell
from support.pages import customer_user, staff_member
from support.quotes import request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD
from support.shop import order as order_body

VIDEO = {"video_file": "https://v.example/1.mp4", "streaming_playlist": "https://v.example/1.m3u8"}
METHOD = {"shipping_method": {"id": STANDARD}}
CSV = {"Content-Type": "text/csv"}
LIST = {"name": "Usual", "items": [{"sku": "CABLE", "quantity": 2}]}
WEBHOOK = {"url": "https://erp.example/events"}
_numbers = itertools.count(1)


@dataclass
class Staff:
    """A program of the reseller; `client` names the person for whom it acts."""

    office: BackOfficeSite
    client: httpx2.Client
    customer: Customer

    def order(self, *, dispatched: bool = False) -> str:
        placed = buy(self.customer, [("CABLE", 2)])
        if dispatched:
            dispatch(self.office.service, placed)
        return f"/api/order/{placed['order_reference']}"

    def customer_path(self) -> str:
        return f"/api/customer/{self.customer.id}"

    def contact(self) -> str:
        return str(self.client.post(f"{self.customer_path()}/contact", json={"name": "Ada"}).headers["Location"])

    def delivery(self) -> dict[str, Any]:
        """A delivery that is expected: its product and when."""
        sku = sell(self.office.service, f"COMES-{next(_numbers)}", 10)
        self.office.service.must_load("incoming", [{"sku": sku, "incoming": 3, "expected_on": "2026-07-01"}])
        [expected] = self.client.get(f"/api/product/{sku}").json()["deliveries"]
        return {"sku": sku, "expected_on": expected["expected_on"]}

    def shipment(self) -> str:
        order = self.order(dispatched=True)
        return f"{order}/shipment/{self.client.get(order).json()['shipments'][0]['id']}"

    def request(self) -> str:
        asked = {"kind": "message", "order_reference": self.order().rpartition("/")[2], "text": "a test"}
        return f"/api/request/{self.customer.post('/request', asked).json()['id']}"

    def approval(self) -> str:
        code = create(self.customer, [("CABLE", 1)])["confirmation_code"]
        buyer = customer_user(self.office.service, self.customer.id, "buyer")
        buyer.sends(f"/account/new-order/{code}/approval", {"shipping_method": str(STANDARD)})
        return f"/api/approval/{code}"

    def remittance(self) -> dict[str, Any]:
        return {"customer_id": self.customer.id, "invoices": [self.invoice()]}

    def view(self) -> str:
        sam = staff_member(self.office.service, self.office.url, "support")
        sam.sends("/view/new", {"of": "/order", "name": "Shared", "shared": "true"})
        return f"/api/view/{self.client.get('/api/view').json()[-1]['id']}"

    def returned(self) -> str:
        order = self.order(dispatched=True)
        return str(self.client.post(f"{order}/return", json=self.all_of(order)).headers["Location"])

    def all_of(self, order: str) -> dict[str, Any]:
        """The body that opens a return of all units of an order."""
        items = self.client.get(order).json()["items"]
        return {"items": [{"id": item["id"], "quantity": item["quantity"]} for item in items], "reason": "a test"}

    def receipt(self, found: str) -> dict[str, Any]:
        """The body that receives a part of a return, which then stays open."""
        items = self.client.get(found).json()["items"]
        return {"items": [{"id": item["id"], "restock": 1} for item in items[:1]]}

    def bank_file(self, reference: object) -> dict[str, Any]:
        content = f"date,amount,reference\n2026-06-15,1.00,{reference}\n"
        done: dict[str, Any] = self.client.post("/api/payment/import", content=content, headers=CSV).json()
        return done

    def waiting_line(self) -> int:
        return int(self.bank_file(f"someone {next(_numbers)}")["unplaced"][0]["id"])

    def quote(self, *, priced: bool = False) -> str:
        address = f"/api/quote/{request_quote(self.customer)['confirmation_code']}"
        if priced:
            self.client.post(f"{address}/price", json={"discount": 5})
        return address

    def of_customer(self, part: str) -> str:
        return f"/api/customer/{self.customer.id}{part}"

    def added(self, part: str, body: dict[str, Any]) -> str:
        """The path of something new of the customer."""
        return str(self.client.post(self.of_customer(part), json=body).headers["Location"])

    def webhook(self) -> str:
        return str(self.client.post("/api/webhook", json=WEBHOOK).headers["Location"])

    def ping(self, webhook: str) -> str:
        return f"{webhook}/delivery/{self.client.post(f'{webhook}/ping').json()['id']}"

    def stock_file(self) -> str:
        return f"sku,available\nCABLE,{500 + next(_numbers)}\n"

    def imported(self) -> int:
        sent = self.client.post("/api/import/stock", content=self.stock_file(), headers=CSV)
        return int(sent.json()["id"])

    def invoice(self) -> int:
        return number_of(self.office.service, invoiced(self.office.service, self.customer))

    def debtor(self) -> str:
        self.invoice()
        return self.of_customer("/remind")

    def payment(self) -> dict[str, Any]:
        return {"customer_id": self.customer.id, "amount": 5}

    def paid(self) -> int:
        return int(self.client.post("/api/payment", json=self.payment()).json()["id"])

    def another(self) -> int:
        return self.office.service.customer().id

    def blocked(self) -> str:
        path = f"/api/customer/{self.another()}/block"
        self.client.post(path, json={"reason": "a test"}).raise_for_status()
        return path

    def failed_job(self) -> int:
        buy(self.office.service.customer(order_mails=True))
        with psycopg.connect(self.office.service.database_url, autocommit=True) as database:
            found = database.execute(
                "update procrastinate_jobs set status = 'failed'"
                " where id = (select max(id) from procrastinate_jobs where status = 'todo') returning id"
            ).fetchone()
        assert found is not None
        return int(found[0])


def email() -> str:
    return f"person{next(_numbers)}@shop.example"


Request = Callable[[Staff], tuple[str, str, Any]]

CHANGES: dict[str, tuple[str, Request]] = {
    "createCustomer": (
        "customer.create",
        lambda _: ("POST", "/api/customer", {"email_address": email(), "first_name": "A", "last_name": "B"}),
    ),
    "changeCustomer": ("customer.edit", lambda s: ("PATCH", s.of_customer(""), {"company": f"No. {next(_numbers)}"})),
    "createKey": ("key.create", lambda s: ("POST", s.of_customer("/key"), {"name": "ERP"})),
    "disableKey": ("key.disable", lambda s: ("DELETE", s.added("/key", {"name": "ERP"}), None)),
    "inviteUser": ("user.invite", lambda s: ("POST", s.of_customer("/user"), {"email": email(), "role": "buyer"})),
    "disableUser": (
        "user.disable",
        lambda s: ("DELETE", s.added("/user", {"email": email(), "role": "buyer"}), None),
    ),
    "changeUser": (
        "user.change_role",
        lambda s: ("PATCH", s.added("/user", {"email": email(), "role": "buyer"}), {"order_limit": 100}),
    ),
    "chooseEmails": (
        "user.choose_emails",
        lambda s: (
            "PUT",
            f"{s.added('/user', {'email': email(), 'role': 'buyer'})}/alert",
            {"emails": ["dispatched"]},
        ),
    ),
    "createList": ("saved_list.create", lambda s: ("POST", s.of_customer("/list"), LIST)),
    "replaceList": ("saved_list.change", lambda s: ("PUT", s.added("/list", LIST), {**LIST, "name": "New"})),
    "deleteList": ("saved_list.delete", lambda s: ("DELETE", s.added("/list", LIST), None)),
    "approveOrder": ("order.confirm order.approve", lambda s: ("POST", f"{s.approval()}/approve", None)),
    "declineOrder": (
        "order.cancel order.decline_approval",
        lambda s: ("POST", f"{s.approval()}/decline", {"reason": "a test"}),
    ),
    "tellOfPayment": ("remittance.tell", lambda s: ("POST", "/api/remittance", s.remittance())),
    "takeBackRemittance": (
        "remittance.take_back",
        lambda s: (
            "DELETE",
            str(s.client.post("/api/remittance", json=s.remittance()).headers["Location"]),
            None,
        ),
    ),
    "deleteView": ("view.delete", lambda s: ("DELETE", s.view(), None)),
    "createAddress": ("address.create", lambda s: ("POST", s.of_customer("/address"), ADDRESS)),
    "deleteAddress": ("address.delete", lambda s: ("DELETE", s.added("/address", ADDRESS), None)),
    "createOrder": (
        "order.create",
        lambda s: ("POST", "/api/order", {"customer_id": s.customer.id, **order_body([("CABLE", 1)])}),
    ),
    "confirmOrder": (
        "order.confirm",
        lambda s: ("POST", f"/api/order/{create(s.customer)['confirmation_code']}/confirm", METHOD),
    ),
    "amendOrder": ("order.amend", lambda s: ("PATCH", s.order(), {"customer_reference": f"A-{next(_numbers)}"})),
    "addNote": ("order.note", lambda s: ("POST", f"{s.order()}/note", {"text": "Call first"})),
    "openReturn": (
        "return.open",
        lambda s: ("POST", f"{(order := s.order(dispatched=True))}/return", s.all_of(order)),
    ),
    "receiveReturn": (
        "return.receive",
        lambda s: ("POST", f"{(found := s.returned())}/receive", s.receipt(found)),
    ),
    "closeReturn": ("return.close", lambda s: ("POST", f"{s.returned()}/close", None)),
    "closeRequest": ("request.close", lambda s: ("POST", f"{s.request()}/close", {"text": "a test"})),
    "declineQuote": ("quote.decline", lambda s: ("POST", f"{s.quote()}/decline", {"reason": "a test"})),
    "confirmQuote": ("order.confirm", lambda s: ("POST", f"{s.quote(priced=True)}/confirm", METHOD)),
    "dispatchOrder": ("order.dispatch", lambda s: ("POST", f"{s.order()}/dispatch", None)),
    "trackOrder": (
        "order.track",
        lambda s: ("POST", f"{s.order(dispatched=True)}/tracking", {"type": "Sent", "description": "On its way"}),
    ),
    "correctShipment": ("shipment.correct", lambda s: ("PATCH", s.shipment(), {"tracking_number": "RIGHT"})),
    "takeShipmentBack": (
        "shipment.take_back",
        lambda s: ("POST", f"{s.shipment()}/take-back", {"reason": "a test"}),
    ),
    "setVideo": ("order.video", lambda s: ("POST", f"{s.order()}/video", VIDEO)),
    "cancelOrder": ("order.cancel", lambda s: ("POST", f"{s.order()}/cancel", {"reason": "a test"})),
    "invoiceOrder": ("invoice.issue", lambda s: ("POST", f"{s.order(dispatched=True)}/invoice", None)),
    "priceQuote": (
        "quote.price",
        lambda s: (
            "POST",
            f"/api/quote/{request_quote(s.customer)['confirmation_code']}/price",
            {"items": [{"sku": "PHONE", "cost_net": 40}]},
        ),
    ),
    "receiveGoods": (
        "delivery.receive",
        lambda s: ("POST", "/api/goods-in", {"items": [{**s.delivery(), "units": 0, "ends": True}]}),
    ),
    "countStock": (
        "stock.adjust",
        lambda _: ("POST", "/api/stock/count", {"items": [{"sku": "CABLE", "counted": next(_numbers) + 5_000}]}),
    ),
    "createContact": ("customer.add_contact", lambda s: ("POST", f"{s.customer_path()}/contact", {"name": "Ada"})),
    "changeContact": ("customer.change_contact", lambda s: ("PATCH", s.contact(), {"name": "Ada Byron"})),
    "removeContact": ("customer.remove_contact", lambda s: ("DELETE", s.contact(), None)),
    "addCustomerNote": ("customer.note", lambda s: ("POST", f"{s.customer_path()}/note", {"text": "A test"})),
    "adjustStock": (
        "stock.adjust",
        lambda _: (
            "POST",
            "/api/stock/adjustment",
            {"items": [{"sku": sku, "change": 1, "reason": "Stocktake"} for sku in ("CABLE", "PHONE")]},
        ),
    ),
    "changePrices": (
        "import.apply",
        lambda s: ("POST", "/api/price-change", {"query": sell(s.office.service, "RULED", 10), "raise_percent": 5}),
    ),
    "importFile": ("import.apply", lambda s: ("POST", "/api/import/stock", s.stock_file())),
    "rollBackImport": ("import.roll_back", lambda s: ("POST", f"/api/import/{s.imported()}/roll-back", None)),
    "recordPayment": ("payment.record", lambda s: ("POST", "/api/payment", s.payment())),
    "reversePayment": (
        "payment.reverse",
        lambda s: ("POST", f"/api/payment/{s.paid()}/reverse", {"reason": "a test"}),
    ),
    "importPayments": (
        "payment.record bank_file.import",
        lambda s: ("POST", "/api/payment/import", f"date,amount,reference\n2026-06-15,1.00,{s.invoice()}\n"),
    ),
    "placeBankLine": (
        "payment.record bank_line.place",
        lambda s: ("POST", f"/api/bank-line/{s.waiting_line()}/place", {"customer_id": s.customer.id}),
    ),
    "setBankLineAside": (
        "bank_line.set_aside",
        lambda s: ("POST", f"/api/bank-line/{s.waiting_line()}/set-aside", {"reason": "a test"}),
    ),
    "rollBackBankFile": (
        "payment.reverse bank_file.roll_back",
        lambda s: ("POST", f"/api/bank-file/{s.bank_file(s.invoice())['id']}/roll-back", None),
    ),
    "resendInvoice": ("invoice.resend", lambda s: ("POST", f"/api/invoice/{s.invoice()}/resend", None)),
    "sendStatement": ("customer.send_statement", lambda s: ("POST", f"{s.customer_path()}/statement/send", None)),
    "remindDebtor": (
        "customer.remind",
        lambda s: ("POST", s.debtor(), None),
    ),
    "issueCreditNote": (
        "credit_note.issue",
        lambda s: ("POST", f"/api/invoice/{s.invoice()}/credit-note", {"amount": 1, "reason": "a test"}),
    ),
    "blockCustomer": (
        "customer.block",
        lambda s: ("POST", f"/api/customer/{s.another()}/block", {"reason": "a test"}),
    ),
    "unblockCustomer": ("customer.unblock", lambda s: ("DELETE", s.blocked(), None)),
    "eraseCustomer": ("customer.erase", lambda s: ("POST", f"/api/customer/{s.another()}/erase", None)),
    "createWebhook": ("webhook.add", lambda _: ("POST", "/api/webhook", WEBHOOK)),
    "changeWebhook": ("webhook.edit", lambda s: ("PATCH", s.webhook(), {"state": "paused"})),
    "deleteWebhook": ("webhook.remove", lambda s: ("DELETE", s.webhook(), None)),
    "rotateWebhookSecret": ("webhook.rotate", lambda s: ("POST", f"{s.webhook()}/rotate-secret", None)),
    "pingWebhook": ("webhook.ping", lambda s: ("POST", f"{s.webhook()}/ping", None)),
    "redeliver": ("webhook.redeliver", lambda s: ("POST", f"{s.ping(s.webhook())}/redeliver", None)),
    "replayEvents": ("webhook.replay", lambda s: ("POST", f"{s.webhook()}/replay", {"from": 1, "to": 9})),
    "retryJob": ("job.retry", lambda s: ("POST", f"/api/job/{s.failed_job()}/retry", None)),
}


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    seller = {
        "seller_name": "Trade & Sons",
        "seller_address": "7 Sales Street, York",
        "seller_vat_number": "GB123456782",
    }
    with backoffice_of(shop, **seller) as running:
        yield running


@pytest.fixture(scope="module")
def program(office: BackOfficeSite) -> Staff:
    client = office.caller(**{"X-Forwarded-For": "192.0.2.44", "X-Acting-User": "sam@reseller.example"})
    return Staff(office, client, office.service.customer(order_mails=True))


def test_every_change_is_listed(office: BackOfficeSite) -> None:
    paths = office.client().get("/api/openapi.json").json()["paths"].values()
    found = {
        path[method]["operationId"] for path in paths for method in path.keys() & {"post", "put", "patch", "delete"}
    }
    assert found == CHANGES.keys()


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_leaves_one_entry_and_its_repetition_none(program: Staff, name: str) -> None:
    action, prepare = CHANGES[name]
    method, path, body = prepare(program)
    shop = program.office.service
    [(last,)] = rows(shop, "select max(id) from audit_entry")
    headers = {"Idempotency-Key": f"audited-{name}"} if method == "POST" else {}
    for _ in range(2 if method == "POST" else 1):
        sent: dict[str, Any] = {"content": body} if isinstance(body, str) else {"json": body}
        response = program.client.request(
            method, path, **sent, headers={**headers, **(CSV if isinstance(body, str) else {})}
        )
        assert response.is_success, response.text
    found = rows(
        shop,
        "select action, actor_kind, actor_name, acting_user, address from audit_entry where id > %s order by id",
        last,
    )
    assert found == [(each, "token", "test", "sam@reseller.example", "192.0.2.44") for each in action.split()]


@pytest.mark.parametrize("name", ["changeCustomer", "changeContact", "changeWebhook", "changeUser"])
def test_a_change_in_which_nothing_differs_is_recorded_nowhere(program: Staff, name: str) -> None:
    method, path, body = CHANGES[name][1](program)
    counts = """
        select (select count(*) from audit_entry),
               (select count(*) from unnumbered_event) + (select count(*) from event)
    """
    program.client.request(method, path, json=body).raise_for_status()
    before = rows(program.office.service, counts)
    program.client.request(method, path, json=body).raise_for_status()
    assert rows(program.office.service, counts) == before
