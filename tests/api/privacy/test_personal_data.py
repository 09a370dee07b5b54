"""A customer's data: exported whole, without secrets, and erased except what tax law requires to keep."""

import io
import json
import tracemalloc
import zipfile
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from support.backoffice import backoffice_of
from support.billing import invoiced, pay
from support.orders import buy, cancel, dispatch, outstanding, rows
from support.pages import customer_user
from support.receiver import policy_of
from support.service import Customer, Service
from tradecounter.customer_requests.handle_requests import RequestDetails, close_request, open_request
from tradecounter.customers.change_account import block_customer
from tradecounter.customers.operations.changes import change_customer
from tradecounter.customers.settings import CustomerChange
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.text import fold
from tradecounter.privacy.personal_data import erase_customer, export_customer
from tradecounter.returns.handle_returns import close_return, open_return
from tradecounter.returns.wire import ReturnedUnits, ReturnRequest
from tradecounter.webhooks.manage import add_webhook
from tradecounter.webhooks.wire import WebhookRequest

ADDRESS = {"contact_name": "Ada Private", "street_one": "1 Hidden Row", "city": "Leeds", "zip": "LS1 1AA"}


def export(service: Service, customer: Customer) -> dict[str, bytes]:
    file = io.BytesIO()
    service.in_transaction(partial(export_customer, customer_id=customer.id, file=file))
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def erase(service: Service, customer: Customer) -> None:
    service.in_transaction(partial(erase_customer, customer_id=customer.id, now=service.clock.now()))


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    made = shop.customer(company="Private & Co")
    assert made.post("/customer/address", {**ADDRESS, "country_code": "GB"}).status_code == 201
    return made


def test_an_export_has_all_records_of_one_customer(shop: Service, customer: Customer) -> None:
    other = shop.customer(company="Someone else")
    invoiced(shop, other, ("PHONE", 1))
    placed = invoiced(shop, customer, ("PHONE", 2))
    files = export(shop, customer)
    tables = {name.removesuffix(".json"): json.loads(text) for name, text in files.items() if name.endswith(".json")}
    [account] = tables["customer"]
    assert (account["id"], account["company"]) == (customer.id, "Private & Co")
    assert [each["order_reference"] for each in tables["orders"]] == [placed["order_reference"]]
    assert [each["details"]["street_one"] for each in tables["address"]] == ["1 Hidden Row"]
    assert (len(tables["order_line"]), len(tables["shipment"]), len(tables["api_key"])) == (1, 1, 1)
    [invoice] = tables["invoice"]
    assert files[f"invoice/{invoice['number']}.pdf"].startswith(b"%PDF")
    everything = b"".join(files.values())
    assert b"Someone else" not in everything
    assert "hash" not in tables["api_key"][0]


def test_every_table_that_refers_to_customers_is_exported(shop: Service, customer: Customer) -> None:
    tables = {
        table
        for (table,) in rows(
            shop,
            "select table_name from information_schema.columns where table_schema = 'public' and column_name = %s",
            "customer_id",
        )
    }
    # Numbers of requests, changes that are yet to be announced, and whose contract prices changed.
    passing = {"request_count", "removed_price", "catalogue_change"}
    assert tables - passing <= {name.removesuffix(".json") for name in export(shop, customer)}


def test_an_export_has_what_is_not_invoiced_and_what_no_user_asked_for(shop: Service) -> None:
    customer = shop.customer()
    placed, asked, now = buy(customer), RequestDetails(text="Where is it?"), shop.clock.now()
    shop.in_transaction(lambda tx: open_request(tx, customer.id, placed["order_reference"], "message", asked, now))
    dispatch(shop, placed)
    files = export(shop, customer)
    names = ("shipment", "shipment_line", "customer_request")
    assert [len(json.loads(files[f"{name}.json"])) for name in names] == [1, 1, 1]


def test_an_export_has_few_files_in_memory_at_a_time(shop: Service) -> None:
    customer = shop.customer()
    placed, asked = buy(customer), RequestDetails(text="Look at these")
    request = shop.in_transaction(
        lambda tx: open_request(tx, customer.id, placed["order_reference"], "message", asked, shop.clock.now())
    )
    rows(
        shop,
        "insert into request_file (request_id, name, media_type, content)"
        " select %s, n || '.txt', 'text/plain', convert_to(repeat('x', 500000), 'UTF8') from generate_series(1, 60) n"
        " returning id",
        request,
    )
    tracemalloc.start()
    try:
        file = io.BytesIO()
        shop.in_transaction(partial(export_customer, customer_id=customer.id, file=file))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    with zipfile.ZipFile(file) as archive:
        assert len([name for name in archive.namelist() if name.startswith("request_file/")]) == 60
    assert most < 20_000_000


def test_open_orders_and_debts_keep_a_customer_from_being_erased(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer, [("PHONE", 1)])
    with pytest.raises(DomainError, match=f"1 open order: {placed['order_reference']}") as rejected:
        erase(shop, customer)
    assert rejected.value.kind is Kind.CONFLICT
    cancel(shop, placed)
    owing = invoiced(shop, customer, ("PHONE", 1))
    with pytest.raises(DomainError, match="owes"):
        erase(shop, customer)
    pay(shop, owing, str(outstanding(shop, customer)))
    name, now, units = owing["order_reference"], shop.clock.now(), [ReturnedUnits(owing["items"][0]["id"], 1)]
    number = shop.in_transaction(lambda tx: open_return(tx, name, ReturnRequest(units, "Faulty"), now))
    with pytest.raises(DomainError, match=f"1 open return: {number}"):
        erase(shop, customer)
    shop.in_transaction(lambda tx: close_return(tx, number, now))
    asked = RequestDetails(text="Where is the manual?")
    request = shop.in_transaction(lambda tx: open_request(tx, customer.id, name, "message", asked, now))
    with pytest.raises(DomainError, match=f"1 open request: {name}"):
        erase(shop, customer)
    shop.in_transaction(lambda tx: close_request(tx, request, "In the box.", now))
    erase(shop, customer)


def test_erasing_leaves_only_what_tax_law_requires(shop: Service) -> None:
    customer = shop.customer(company="Vanishing Ltd", first_name="Vera", accounts_email="vera@vanish.example")
    assert customer.post("/customer/address", {**ADDRESS, "country_code": "GB"}).status_code == 201
    placed = invoiced(shop, customer, ("PHONE", 1), shipping_address={**ADDRESS, "country_code": "GB"})
    pay(shop, placed, str(outstanding(shop, customer)))
    cancel(shop, buy(customer, [("PHONE", 1)]), "Ada Private has moved")
    wanted, policy = WebhookRequest(url="https://vanish.example/", customer_id=customer.id), policy_of(shop)
    shop.in_transaction(lambda tx: add_webhook(tx, policy, wanted, shop.clock.now()))
    person = customer_user(shop, customer.id)
    person.sends("/account/list/new", {"name": "Ada Private's kit", "lines": "PHONE 1", "shared": "true"})
    shop.in_transaction(partial(block_customer, customer_id=customer.id, reason="Ada Private", now=shop.clock.now()))
    erase(shop, customer)
    shop.refresh()
    assert customer.get("/order").status_code == 401
    files = export(shop, customer)
    lasting = ("invoice", "audit_entry", "event", "unnumbered_event")
    left = b"".join(text for name, text in files.items() if not name.startswith(lasting))
    for trace in (b"Vanishing", b"Vera", b"vanish.example", b"Hidden Row", b"Ada Private"):
        assert trace not in left
    order, _ = json.loads(files["orders.json"])
    assert (order["order_reference"], order["shipping_address"]["zip"]) == (placed["order_reference"], "LS1 1AA")
    assert b"Vanishing" in files["invoice.json"]
    with pytest.raises(DomainError, match="already erased"):
        erase(shop, customer)


def test_stored_responses_of_the_back_office_do_not_outlive_a_customer(shop: Service) -> None:
    person = {"first_name": "Vera", "last_name": "Vanishing", "trade_account": True}
    contact = {"name": "Ada Private", "phone": "+44 113 496 0000"}
    with backoffice_of(shop) as office:
        staff, ids = office.caller(), []

        def send(path: str, body: dict[str, Any], key: str) -> Any:
            shop.clock.advance(timedelta(seconds=1))
            made = staff.post(path, json=body, headers={"Idempotency-Key": key})
            assert made.status_code in {200, 201}, made.text
            return made.json()

        for name in ("gone", "stays"):
            new = {**person, "email_address": f"{name}@vanish.example"}
            ids.append(send("/api/customer", {**new, "term_days": 30, "credit_limit": 10000}, name)["id"])
        for number in ids:
            account = f"/api/customer/{number}"
            key = send(f"{account}/key", {"name": "Ada's"}, f"key {number}")["key"]
            placed = buy(Customer(number, key, shop.client(**{"X-Api-Key": key})))
            send(f"/api/order/{placed['order_reference']}/note", {"text": "for Ada Private"}, f"order {number}")
            cancel(shop, placed)
            send(f"{account}/user", {"email": f"user{number}@vanish.example", "role": "buyer"}, f"user {number}")
            send(f"{account}/address", {**ADDRESS, "country_code": "GB"}, f"address {number}")
            send(f"{account}/contact", contact, f"contact {number}")
            send(f"{account}/note", {"text": "Ada Private has moved"}, f"note {number}")
    shop.in_transaction(partial(erase_customer, customer_id=ids[0], now=shop.clock.now()))
    left = {key for (key,) in rows(shop, "select key from caller_idempotency_key")}
    assert left == {"stays", *(f"{kind} {ids[1]}" for kind in ("user", "key", "order", "address", "contact", "note"))}


def test_what_imports_changed_is_exported_and_erased_also_under_an_earlier_email_address(shop: Service) -> None:
    earlier, later = "Vera.Straße@vanish.example", "married@vanish.example"
    customer, other = shop.customer(email_address=earlier), shop.customer()
    shop.must_load("customers", [{"email_address": earlier, "company": "Unmarried & Co"}])
    rename(shop, customer, later)
    rename(shop, other, earlier)
    shop.must_load("customers", [{"email_address": each, "company": f"{each} & Co"} for each in (earlier, later)])
    changes = json.loads(export(shop, customer)["import_change.json"])
    assert [change["key"] for change in changes] == [fold(earlier), later]
    [own] = json.loads(export(shop, other)["import_change.json"])
    assert own["after"]["company"] == f"{earlier} & Co"
    erase(shop, customer)
    assert json.loads(export(shop, customer)["import_change.json"]) == []
    [left] = json.loads(export(shop, other)["import_change.json"])
    assert left["after"]["company"] == f"{earlier} & Co"


def test_what_imports_changed_in_a_customer_is_not_told_to_the_next_one_with_its_address(shop: Service) -> None:
    email, later = "taken-over@vanish.example", "before@vanish.example"
    customer = shop.customer(email_address=email)
    shop.must_load("customers", [{"email_address": email, "company": "Former & Co"}])
    rename(shop, customer, later)
    successor = shop.customer(email_address=email)
    assert json.loads(export(shop, successor)["import_change.json"]) == []
    shop.must_load("customers", [{"email_address": email, "company": "Next & Co"}])
    [own] = json.loads(export(shop, successor)["import_change.json"])
    assert own["after"]["company"] == "Next & Co"
    [former] = json.loads(export(shop, customer)["import_change.json"])
    assert former["after"]["company"] == "Former & Co"


def rename(service: Service, customer: Customer, email: str) -> None:
    change, now = CustomerChange(email_address=email), datetime.now(UTC)  # imports have the time of the machine
    service.in_transaction(lambda tx: change_customer(tx, customer.id, change, now))
