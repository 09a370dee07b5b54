"""A reseller with one of everything that pages show, whose every text contains markup."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import httpx2

from support.backoffice import BackOfficeSite
from support.developers import add_developers_things
from support.images import png
from support.mail import deliver_mail
from support.quotes import request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD, order, price, product
from tradecounter.access.queries.people import find_user_by_id, put_user
from tradecounter.access.staff import NewStaffMember, add_staff_member
from tradecounter.access.tokens import add_token
from tradecounter.access.users import invite_user
from tradecounter.alerts.queries import add_stock_alert
from tradecounter.alerts.tell_users import follow_prices
from tradecounter.approvals.handle_approvals import request_approval
from tradecounter.baskets.queries import add_lines
from tradecounter.customer_notes.keep_notes import ContactDetails, add_contact, add_note
from tradecounter.customer_requests.handle_requests import RequestDetails, checked_file, open_request
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.events.sequencer import number_all
from tradecounter.kit.clock import uk_date
from tradecounter.payments.queries.remittances import insert_remittance
from tradecounter.saved_lists.queries import insert_list, put_lines
from tradecounter.saved_views.queries import NewView, insert_view

SELLER: dict[str, Any] = {
    "seller_name": "Seller & Sons Ltd",
    "seller_address": "7 Sales Street|York|YO1 7HH",
    "seller_vat_number": "GB123456782",
}
RAW = "<b data-raw"  # never in a page; what pages show begins with "&lt;b data-raw"
ESCAPED = "&lt;b data-raw"


def markup(text: str, most: int = 200) -> str:
    """A text that would be markup, and would end an attribute, if a page did not escape it."""
    return f"{text}\"'>{RAW}>{{{{7*7}}}}"[:most]


_MARKED = Statement("select id from product where sku like 'MARK-%' order by sku")


@dataclass
class Belongings:
    """What one customer has: the customer and the names of its things, by kind."""

    customer: Customer
    names: dict[str, Any] = field(default_factory=dict)


@dataclass
class Reseller:
    """Both sites with two customers who have one of everything each."""

    office: BackOfficeSite
    staff: httpx2.Client
    first: Belongings
    other: Belongings

    @property
    def service(self) -> Service:
        return self.office.service


def one_of_everything(office: BackOfficeSite) -> Reseller:
    """Fill the shop of an office's service."""
    service = office.service
    staff = office.caller(**{"X-Acting-User": "acting"})
    stock_with_markup(service, staff)
    first, other = (_furnished(office, staff, name) for name in ("First", "Other"))
    _add_staff_things(office, staff)
    service.call(lambda: number_all(service.commands))
    deliver_mail(service)
    service.refresh()
    office.refresh()
    return Reseller(office, staff, first, other)


def stock_with_markup(service: Service, staff: httpx2.Client) -> None:
    """Products, prices and deliveries, imported over HTTP, one import with mistakes and one rolled back."""
    service.must_load("manufacturers", [{"key": "marked", "name": markup("Maker")}])
    service.must_load("categories", [{"key": "marked", "name": markup("Category")}])
    values = {"manufacturer": "marked", "description": markup("Description"), "purchase_cost": 20}
    service.must_load("products", [product(sku, **{**values, "name": markup(sku)}) for sku in ("MARK-1", "MARK-2")])
    service.must_load("price-list", [price("MARK-1", 50, 45, 40), price("MARK-2", 10)])
    service.must_load("stock", [{"sku": "MARK-1", "available": 500}, {"sku": "MARK-2", "available": 2}])
    service.must_load("incoming", [{"sku": "MARK-2", "incoming": 50, "expected_on": "2026-07-01"}])
    text = "price_list,sku,single_unit_cost\ndefault,MARK-2,11\n"
    done = _sent(staff.post("/api/import/price-list", content=text, headers={"Content-Type": "text/csv"}))
    _sent(staff.post(f"/api/import/{done['id']}/roll-back"))
    item = {"sku": "MARK-1", "change": 5, "reason": markup("Counted")}
    _sent(staff.post("/api/stock/adjustment", json={"items": [item]}))


def more_of_everything(reseller: Reseller, times: int) -> None:
    """More orders, documents and quotes of the first customer."""
    for number in range(times):
        names: dict[str, Any] = {}
        _add_orders(reseller.staff, reseller.first.customer, f"More {number}", names, ADDRESS)
        _add_quotes(reseller.staff, reseller.first.customer, f"More {number}", names)
    reseller.service.call(lambda: number_all(reseller.service.commands))


def _furnished(office: BackOfficeSite, staff: httpx2.Client, name: str) -> Belongings:
    service = office.service
    texts: dict[str, Any] = {"first_name": markup(f"{name} first"), "last_name": markup(f"{name} last")}
    customer = service.customer(**texts, company=markup(f"{name} company"), order_mails=True)
    names: dict[str, Any] = {"customer": customer.id}
    contract = {"customer_id": customer.id, "sku": "MARK-1", "single_unit_cost": 44, "valid_from": "2026-01-01"}
    service.must_load("contract-prices", [contract])
    where = {part: markup(f"{name} {part}") for part in ("contact_name", "company_name", "street_one", "city")}
    address = {**ADDRESS, **where}
    names["address"] = _sent(customer.post("/customer/address", address))["id"]
    names["key"] = _sent(staff.post(f"/api/customer/{customer.id}/key", json={"name": markup(f"{name} key")}))["id"]
    names["user"] = _add_users(office, customer, name)
    _add_orders(staff, customer, name, names, address)
    _add_quotes(staff, customer, name, names)
    names["approval"] = _add_approval(service, customer, names["user"], markup(f"{name} approval", 60))
    names["request"] = _add_request(service, names["user"], names["ready"], markup(f"{name} request"))
    names["contact"] = _add_contact_and_note(service, customer.id, name)
    _add_webhook(staff, customer, name, names)
    names["list"], names["alert"] = _add_basket_list_and_alert(service, names["user"], markup(f"{name} list", 100))
    names["remittance"] = _add_remittance(service, names, customer.id, markup(f"{name} remittance", 100))
    names["feed"] = add_developers_things(service, customer.id, markup(f"{name} feed", 100))
    return Belongings(customer, names)


def _add_contact_and_note(service: Service, customer_id: int, name: str) -> int:
    """A person at a customer, and what staff know; the person's id."""
    now = service.clock.now()
    texts = {field: markup(f"{name} {field}", 100) for field in ("name", "task", "phone")}

    async def add(tx: Transaction) -> int:
        await add_note(tx, customer_id, markup(f"{name} note"), now, promised_on=uk_date(now))
        return (await add_contact(tx, customer_id, ContactDetails(**texts), now)).id

    return service.in_transaction(add)


def _add_approval(service: Service, customer: Customer, user_id: int, text: str) -> str:
    """An order for whose approval a user has asked; its code."""
    body = order([("MARK-1", 2)], customer_reference=text)
    code: str = _sent(customer.post("/order", body))["confirmation_code"]

    async def ask(tx: Transaction) -> None:
        user = await find_user_by_id(tx, user_id)
        assert user is not None
        await request_approval(tx, user.customer_id, user.id, code, STANDARD, text, service.clock.now())

    service.in_transaction(ask)
    return code


def _add_request(service: Service, user_id: int, reference: str, text: str) -> int:
    """A message about an order; the request's id."""

    async def ask(tx: Transaction) -> int:
        user = await find_user_by_id(tx, user_id)
        assert user is not None
        files = [checked_file("file_one", "picture.png", png(2, 2))]
        details = RequestDetails(text=text)
        now = service.clock.now()
        return await open_request(tx, user.customer_id, reference, "message", details, now, files, user_id=user.id)

    return service.in_transaction(ask)


def _add_basket_list_and_alert(service: Service, user_id: int, name: str) -> tuple[int, int]:
    """Put products into a user's basket and into a list, and have it wait for one; the ids of list and product."""
    now = service.clock.now()

    async def add(tx: Transaction) -> tuple[int, int]:
        user = await find_user_by_id(tx, user_id)
        assert user is not None
        product_ids = [found for (found,) in await tx.fetch_all(_MARKED)]
        await add_lines(tx, user.id, [(product_id, 2) for product_id in product_ids])
        list_id = await insert_list(tx, user, name, now, shared=True)
        await put_lines(tx, list_id, [(product_id, 3) for product_id in product_ids])
        await add_stock_alert(tx, user.id, product_ids[0], now)
        await follow_prices(tx, user.customer_id, user.id, list_id, now)
        return list_id, product_ids[0]

    return service.in_transaction(add)


def _add_remittance(service: Service, names: dict[str, Any], customer_id: int, reference: str) -> int:
    """Tell of a payment; its id."""
    now = service.clock.now()
    told = (names["user"], Decimal("5.00"), now.date(), reference, [names["invoice"]], now)
    return service.in_transaction(lambda tx: insert_remittance(tx, customer_id, *told)).id


def _add_users(office: BackOfficeSite, customer: Customer, name: str) -> int:
    service = office.service
    now, place = service.clock.now(), f"{name.lower()}.example"

    async def add(tx: Transaction) -> int:
        await invite_user(tx, customer.id, f"invited@{place}", "buyer", "s" * 64, now)
        user = await put_user(tx, customer.id, f"buyer@{place}", "buyer", now)
        assert user is not None
        return user.id

    return service.in_transaction(add)


def _add_orders(
    staff: httpx2.Client, customer: Customer, name: str, names: dict[str, Any], address: dict[str, Any]
) -> None:
    """Orders of every state, with their documents and their returns."""

    def placed(reference: str, *items: tuple[str, int], **values: Any) -> dict[str, Any]:
        body = order(items or [("MARK-1", 4)], customer_reference=markup(f"{name} {reference}", 60), **values)
        body |= {"billing_address": address, "shipping_address": address}
        made: dict[str, Any] = _sent(customer.post("/order", body))
        return made

    now = {"auto_confirm": True, "shipping_method": {"id": STANDARD}}
    names["pending"] = placed("pending")["confirmation_code"]
    waiting = placed("waiting", ("MARK-2", 30), **now)["order_reference"]
    names["waiting"] = waiting
    names["ready"] = placed("ready", **now)["order_reference"]
    sent = placed("sent", **now)["order_reference"]
    _sent(staff.post(f"/api/order/{sent}/dispatch", json={}))
    _sent(staff.post(f"/api/order/{waiting}/note", json={"text": markup("Note")}))
    cancelled = placed("cancelled", **now)["order_reference"]
    _sent(staff.post(f"/api/order/{cancelled}/cancel", json={"reason": markup("Cancelled")}))
    sold = placed("sold", **now)
    names["sold"] = sold["order_reference"]
    line = sold["items"][0]["id"]
    way = f"/api/order/{sold['order_reference']}"
    serials = [{"serial_number": markup(f"{name} {n}", 60)} for n in range(4)]
    left = {"items": [{"id": line, "quantity": 4, "serial_numbers": serials}], "tracking_number": markup("T", 60)}
    _sent(staff.post(f"{way}/dispatch", json=left))
    moved = {"type": markup("Type"), "description": markup("Moved"), "locality": markup("Depot")}
    _sent(staff.post(f"{way}/tracking", json=moved))
    names["invoice"] = _sent(staff.post(f"{way}/invoice", json={}))["invoices"][0]
    came_back = {"items": [{"id": line, "quantity": 1}], "reason": markup("Broken")}
    names["return"] = _sent(staff.post(f"{way}/return", json=came_back))["number"]
    received = _sent(staff.post(f"{way}/return", json=came_back))["number"]
    back = {"items": [{"id": line, "restock": 1}], "credit": True}
    _sent(staff.post(f"/api/return/{received}/receive", json=back))
    note = _sent(
        staff.post(f"/api/invoice/{names['invoice']}/credit-note", json={"amount": 5, "reason": markup("Goodwill")})
    )
    names["credit_note"] = note["number"]
    _add_payments(staff, customer, names)


def _add_payments(staff: httpx2.Client, customer: Customer, names: dict[str, Any]) -> None:
    paid = {"amount": 10, "received_on": "2026-06-15", "method": "bank_transfer"}
    body = {**paid, "invoice": names["invoice"], "reference": markup(f"Paid {names['invoice']}", 100)}
    names["payment"] = _sent(staff.post("/api/payment", json=body))["id"]
    wrong = _sent(
        staff.post("/api/payment", json={**paid, "customer_id": customer.id, "reference": f"W{names['invoice']}"})
    )["id"]
    _sent(staff.post(f"/api/payment/{wrong}/reverse", json={"reason": markup("Reversed")}))


def _add_quotes(staff: httpx2.Client, customer: Customer, name: str, names: dict[str, Any]) -> None:
    def requested(reference: str) -> str:
        found = request_quote(customer, [("MARK-1", 10)], customer_reference=markup(f"{name} {reference}", 60))
        code: str = found["confirmation_code"]
        return code

    names["quote"] = requested("asked")
    names["priced"] = requested("priced")
    lines = [{"sku": "MARK-1", "cost_net": 35}]
    _sent(staff.post(f"/api/quote/{names['priced']}/price", json={"items": lines, "note": markup("Quoted")}))
    declined = requested("declined")
    _sent(staff.post(f"/api/quote/{declined}/decline", json={"reason": markup("Declined")}))


def _add_webhook(staff: httpx2.Client, customer: Customer, name: str, names: dict[str, Any]) -> None:
    body = {"url": f"https://{name.lower()}.example/hook", "types": [], "description": markup("Webhook", 100)}
    made = _sent(staff.post("/api/webhook", json={**body, "customer_id": customer.id}))
    names["webhook"] = made["id"]
    _sent(staff.post(f"/api/webhook/{made['id']}/ping"))


async def _share_a_view(tx: Transaction, now: datetime) -> None:
    member, _ = await add_staff_member(
        tx, NewStaffMember("viewer@reseller.example", markup("Viewer", 100), ["support"]), "v" * 64, now
    )
    view = NewView(name=markup("View", 60), path="/order", query="sort=-total", shared=True, on_today=True)
    await insert_view(tx, member.id, view, now)


def _add_staff_things(office: BackOfficeSite, staff: httpx2.Client) -> None:
    """Things of the reseller itself: a webhook, a token, unplaced money and a failed job."""
    service = office.service
    bank = f"date,amount,reference\n2026-06-01,12.50,{markup('Nobody')}\n"
    _sent(staff.post("/api/payment/import", content=bank, headers={"Content-Type": "text/csv"}))
    own = {"url": "https://erp.example/hook", "types": [], "description": markup("Own", 100)}
    made = _sent(staff.post("/api/webhook", json=own))
    _sent(staff.post(f"/api/webhook/{made['id']}/ping"))
    blocked = service.customer(company=markup("Blocked"))
    _sent(staff.post(f"/api/customer/{blocked.id}/block", json={"reason": markup("Unpaid")}))
    now = service.clock.now()
    service.in_transaction(lambda tx: _share_a_view(tx, now))
    service.in_transaction(
        lambda tx: add_staff_member(
            tx, NewStaffMember("left@reseller.example", markup("Left", 100), ["support"]), "s" * 64, now
        )
    )
    service.in_transaction(lambda tx: add_token(tx, markup("Token", 100), ["orders:read"], now))


def _sent(response: httpx2.Response) -> Any:
    assert response.status_code in {200, 201}, (response.request.url, response.text)
    return response.json()
