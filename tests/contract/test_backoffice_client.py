"""A client generated from the back office's document drives it, as it comes."""

import asyncio
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import pdf_text
from support.events import last_sequence, number_events
from support.generated_clients import GeneratedClient, generated_client
from support.orders import buy
from support.receiver import deliver, receiving
from support.reseller_twin import SELLER
from support.service import Service
from support.shop import ADDRESS, STANDARD

pytestmark = pytest.mark.sweep

# A generated client sends one type of file, which its user chooses; it may receive any.
FILES = ("text/csv", "application/pdf", "application/zip")


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop, **SELLER, webhook_http=True, webhook_networks="127.0.0.0/8") as running:
        yield running


@pytest.fixture(scope="module")
def generated(office: BackOfficeSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GeneratedClient]:
    document = office.client().get("/api/openapi.json").content
    folder = tmp_path_factory.mktemp("back-office-client")
    with generated_client(document, folder, "tradecounter_back_office_client", FILES) as made:
        yield made


@pytest.fixture(scope="module")
def customers_client(shop: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GeneratedClient]:
    document = shop.client().get("/openapi.json").content
    with generated_client(document, tmp_path_factory.mktemp("customers-client"), "tradecounter_shop_client") as made:
        yield made


@pytest.fixture
def client(office: BackOfficeSite, generated: GeneratedClient) -> Iterator[Any]:
    with generated.connected(office.url, token=office.token()) as opened:
        yield opened


def test_the_generator_leaves_out_only_other_types_of_files(generated: GeneratedClient) -> None:
    assert sorted(generated.warnings) == [
        "WARNING parsing GET /api/openapi.yaml within service.",
        *["WARNING parsing POST /api/import/{kind} within imports."] * 3,
        *["WARNING parsing POST /api/payment/import within billing."] * 3,
    ]


def test_it_makes_a_customer_that_buys_what_it_then_dispatches(
    office: BackOfficeSite, generated: GeneratedClient, client: Any
) -> None:
    models = generated.models
    body = models.CustomerRequest(email_address="erp@shop.example", first_name="E", last_name="RP")
    made = generated.create_customer.sync(client=client, body=body, idempotency_key="erp-1")
    again = generated.create_customer.sync(client=client, body=body, idempotency_key="erp-1")
    assert (made.id, made) == (again.id, again)
    terms = models.CustomerChange(credit_limit=5000, term_days=30)
    changed = generated.change_customer.sync(made.id, client=client, body=terms, x_acting_user="Sam")
    assert changed.credit.available_credit == 5000
    assert made.id in [customer.id for customer in generated.list_customers.sync(client=client)]
    key = generated.create_key.sync(made.id, client=client, body=models.KeyRequest(name="shop"))
    assert len(key.key) == 64

    placed = buy(office.service.customer())
    order = generated.get_order.sync(placed["order_reference"], client=client)
    dispatch = models.Dispatch(items=[models.DispatchedItem(id=order.items[0].id, quantity=1)])
    shipped = generated.dispatch_order.sync(order.order_reference, client=client, body=dispatch)
    assert [shipment.items[0].quantity for shipment in shipped.shipments] == [1]
    assert order.id in [found.id for found in generated.list_orders.sync(client=client, sku="PHONE")]


def test_it_reads_products_prices_and_the_audit_log(
    office: BackOfficeSite, generated: GeneratedClient, client: Any
) -> None:
    models, customer = generated.models, office.service.customer()
    price = generated.explain_price.sync(client=client, sku="PHONE", customer_id=customer.id, quantity=10)
    assert (price.unit_cost, price.candidates[0].applies) == (40, True)
    units = models.Adjustment(sku="CABLE", reason="Stocktake", set_=900)
    adjusted = generated.adjust_stock.sync(client=client, body=models.AdjustmentRequest(items=[units]))
    assert adjusted.items[0].on_hand == generated.get_product.sync("CABLE", client=client).stock.on_hand == 900
    [entry] = generated.list_audit_entries.sync(client=client, subject="product/CABLE")
    assert (entry.action, entry.after["reason"]) == ("stock.adjust", "Stocktake")


def test_errors_are_parsed(office: BackOfficeSite, generated: GeneratedClient, client: Any) -> None:
    missing = generated.get_order.sync("NOTHING", client=client)
    assert missing == generated.models.Error("order NOTHING not found", "not_found")
    with generated.connected(office.url, token=office.token("stock:read")) as poor:
        rejected = generated.get_order.sync("X", client=poor)
    assert rejected == generated.models.Error("this needs the scope orders:read", "scope_needed")


class Day:
    """A day of business at the back office and at one customer, each through its generated client."""

    def __init__(self, office: BackOfficeSite, generated: GeneratedClient, client: Any, shop: GeneratedClient) -> None:
        self.office, self.api, self.client, self.models = office, generated, client, generated.models
        self.shop = shop
        self.customer = self.key = self.reference = self.invoice = None

    def call(self, operation: str, *path: Any, **given: Any) -> Any:
        """Call an operation; fails unless the response is a success."""
        found = getattr(self.api, operation).sync_detailed(*path, client=self.client, **given)
        assert found.status_code < 300, found.content
        return found.parsed

    def rejected(self, operation: str, *path: Any, **given: Any) -> tuple[int, str]:
        found = getattr(self.api, operation).sync_detailed(*path, client=self.client, **given)
        return int(found.status_code), found.parsed.message

    def file(self, text: str) -> Any:
        return self.api.types.File(payload=BytesIO(text.encode()))

    def refresh(self) -> None:
        """Let the processes notice what is new, as they do by themselves within seconds."""
        self.office.service.refresh()
        self.office.refresh()


@pytest.fixture
def day(office: BackOfficeSite, generated: GeneratedClient, client: Any, customers_client: GeneratedClient) -> Day:
    return Day(office, generated, client, customers_client)


def _import_goods(day: Day) -> None:
    files = {
        "products": "sku,name,manufacturer,weight_kg,purchase_cost\nDAY,Desk phone,acme,1,60\n",
        "price-list": "price_list,sku,single_unit_cost\ndefault,DAY,100\n",
        "stock": "sku,available\nDAY,3\n",
    }
    for kind, text in files.items():
        tried = day.call("import_file", kind, body=day.file(text), dry_run=day.models.ImportFileDryRun.TRUE)
        report = day.call("import_file", kind, body=day.file(text), diff=day.models.ImportFileDiff.TRUE)
        assert (tried.id, tried.added, report.added, report.diff[0].change) == (None, 1, 1, "added")
    wrong = day.api.import_file.sync("stock", client=day.client, body=day.file("sku,available\nNONE,1\n"))
    assert [(error.line, error.message) for error in wrong.errors] == [(2, 'sku: product "NONE" does not exist')]
    assert [made.kind for made in day.call("list_imports", limit=3)] == ["stock", "price-list", "products"]


def _sell_by_quote(day: Day) -> None:
    """A quote is requested, priced and accepted."""
    models, shop = day.models, day.shop.models
    new = models.CustomerRequest(
        email_address="day@shop.example", first_name="D", last_name="Ay", credit_limit=5000, term_days=30
    )
    day.customer = day.call("create_customer", body=new).id
    day.key = day.call("create_key", day.customer, body=models.KeyRequest(name="shop")).key
    day.refresh()
    address = shop.OrderAddressDetails.from_dict(ADDRESS)
    wanted = shop.CreateOrderRequest(
        customer_reference="PO-DAY",
        items=[shop.CreateOrderItem(sku="DAY", quantity=5)],
        billing_address=address,
        shipping_address=address,
    )
    with day.shop.connected(day.office.service.url, token=day.key, prefix="", auth_header_name="X-Api-Key") as customer:
        code = day.shop.create_quote.sync(client=customer, body=wanted).confirmation_code
        price = models.QuotePrice(discount=10, note="For you")
        preview = day.call("price_quote", code, body=price, dry_run=models.PriceQuoteDryRun.TRUE)
        assert (preview.margin.net, preview.margin.purchase, preview.margin.percent) == (450, 300, 33.33)
        assert day.call("get_quote", code).status == "Waiting"
        assert day.call("price_quote", code, body=price).status == "Priced"
        accepted = shop.ConfirmOrderRequest(shipping_method=shop.ShippingChoice(id=STANDARD))
        day.reference = day.shop.confirm_order.sync(code, client=customer, body=accepted).order_reference


def _ship_and_invoice(day: Day) -> None:
    models, order = day.models, day.call("get_order", day.reference)
    [item] = order.items
    assert (item.quantity_allocated, item.quantity_back_ordered, item.unit_cost) == (3, 2, 90)
    serials = [models.SerialNumber(serial_number=f"SN-{number}") for number in range(3)]
    shipment = models.Dispatch(
        items=[models.DispatchedItem(id=item.id, quantity=3, serial_numbers=serials)], tracking_number="1Z999"
    )
    shipped = day.call("dispatch_order", day.reference, body=shipment)
    [left] = shipped.shipments
    assert [serial.serial_number for serial in left.items[0].serial_numbers] == ["SN-0", "SN-1", "SN-2"]
    assert left.dispatched_at == day.office.service.clock.now()
    cancelled = day.call("cancel_order", day.reference, body=models.Cancellation(reason="Not in stock"))
    assert (cancelled.status, cancelled.items[0].quantity_cancelled) == ("Dispatched", 2)
    [day.invoice] = day.call("invoice_order", day.reference).invoices
    invoice = day.call("get_invoice", day.invoice)
    assert (invoice.cost_net, invoice.cost_tax, invoice.due) == (277.5, 55.5, 333)
    assert "SN-2" in pdf_text(day.call("get_invoice_pdf", day.invoice).payload.read())


def _be_paid(day: Day) -> None:
    payment = day.models.PaymentRequest(amount=333, invoice=day.invoice, reference="BACS 77")
    recorded = day.call("record_payment", body=payment)
    assert [(share.invoice, share.amount) for share in recorded.allocations] == [(day.invoice, 333)]
    status, message = day.rejected("record_payment", body=payment)
    assert (status, "same reference, amount and date" in message) == (409, True)
    assert day.call("get_order", day.reference).status == "Completed"


def _take_back_one(day: Day) -> None:
    models, [item] = day.models, day.call("get_order", day.reference).items
    opened = day.call(
        "open_return",
        day.reference,
        body=models.ReturnRequest(
            items=[models.ReturnedUnits(id=item.id, quantity=1, serial_numbers=["SN-1"])], reason="Faulty"
        ),
    )
    receipt = models.Receipt(items=[models.ReceivedUnits(id=item.id, restock=1)], credit=True)
    assert day.call("receive_return", opened.number, body=receipt).state == "closed"
    [note] = day.call("get_order", day.reference).credit_notes
    assert day.call("get_credit_note", note).cost_gross == 108
    assert f"RMA-{opened.number.partition('-')[2]}" in pdf_text(day.call("get_credit_note_pdf", note).payload.read())


def _look_at_the_account(day: Day) -> None:
    """The statement as data and files; then another order leaves a debt, which a bank file pays."""
    models, statement = day.models, day.call("get_statement", day.customer)
    assert [entry.kind for entry in statement.entries] == ["invoice", "credit_note", "payment"]
    assert (statement.closing_balance, statement.unallocated, statement.ageing.not_due) == (-108, 108, 0)
    table = day.call("get_statement_csv", day.customer).payload.read().decode()
    assert table.splitlines()[-1].endswith("closing_balance,,,,,-108.00")
    assert "108.00" in pdf_text(day.call("get_statement_pdf", day.customer).payload.read())
    address = models.OrderAddressDetails.from_dict(ADDRESS)
    order = models.OrderRequest(
        customer_id=day.customer,
        customer_reference="PO-DAY-2",
        items=[models.CreateOrderItem(sku="DAY", quantity=1)],
        billing_address=address,
        shipping_address=address,
        shipping_method=models.ShippingChoice(id=STANDARD),
        auto_confirm=True,
    )
    reference = day.call("create_order", body=order).order_reference
    day.call("dispatch_order", reference)
    [number] = day.call("invoice_order", reference).invoices
    [debtor] = day.call("list_debtors")
    assert (debtor.customer_id, debtor.due, debtor.overdue) == (day.customer, 18.6, 0)
    text = f"date,amount,reference\n2026-06-16,18.60,Invoice {number}\n2026-06-16,1.00,no number\n"
    done = day.call("import_payments", body=day.file(text))
    assert (done.recorded, [line.line for line in done.unplaced], day.call("list_debtors")) == (1, [3], [])


def _hear_of_it(day: Day, since: int) -> None:
    """The event log, a webhook's ping, and the audit log."""
    number_events(day.office.service)
    types = [day.models.ListEventsTypeItem(name) for name in ("order.dispatched", "payment.recorded")]
    heard = day.call("list_events", after=since, type_=types)
    assert [event.type_ for event in heard] == ["order.dispatched", "payment.recorded"] * 2
    assert heard[0].data["order_reference"] == day.reference
    assert heard[0].occurred_at == day.office.service.clock.now()

    async def ping() -> int:
        async with receiving() as receiver:
            new = day.models.WebhookRequest(url=receiver.url, description="ERP")
            hook = await asyncio.to_thread(day.call, "create_webhook", body=new)
            assert hook.secret.startswith("whsec_")
            await asyncio.to_thread(day.call, "ping_webhook", hook.id)
            await deliver(day.office.service)
            assert [event["type"] for event in receiver.events] == ["webhook.ping"]
            return int(hook.id)

    [delivery] = day.call("list_deliveries", day.office.service.call(ping))
    assert (delivery.type_, delivery.status, delivery.response) == ("webhook.ping", 200, "ok")
    audited = day.call("list_audit_entries", subject=f"order/{day.reference}")
    assert sorted(entry.action for entry in audited) == [
        "order.cancel",
        "order.confirm",
        "order.dispatch",
        "return.open",
        "return.receive",
    ]


def test_a_whole_day_of_business_goes_through_generated_clients(day: Day) -> None:
    since = last_sequence(day.office.service)
    _import_goods(day)
    _sell_by_quote(day)
    _ship_and_invoice(day)
    _be_paid(day)
    _take_back_one(day)
    _look_at_the_account(day)
    _hear_of_it(day, since)
