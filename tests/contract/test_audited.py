"""Every command, operation and scheduled job that changes something leaves an entry in the audit log.

A new one has to be added here: as one that only reads, with the reason why it needs no entry, or with the action of its
entry and a call that causes it.
"""

import itertools
import json
import os
import pwd
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from support.agent_consent import connecting
from support.billing import issue
from support.command_line import SECRET, Forker, Program, all_commands
from support.orders import buy, confirm, create, dispatch, rows, sell
from support.pages import customer_user
from support.quotes import request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD, order
from tradecounter.settings import Settings
from tradecounter.sites.schedule import periodic_jobs

READING = {
    "customer list", "customer show", "customer contacts",
    "key list", "app list", "agent list", "product show", "product list", "price show", "stock show",
    "order list", "order show", "order picking-list", "order packing-slip",
    "quote list", "quote show", "approval list", "request list", "request show",
    "invoice list", "invoice show", "invoice pdf",
    "event list", "audit", "staff list", "token list", "user list", "settings", "doctor", "openapi", "db check",
    "return list", "return show", "imports list", "job list", "customer export",
    "webhook list", "webhook show", "webhook deliveries",
    "payment list", "payment unplaced", "payment imports",
    "credit-note list", "credit-note show", "credit-note pdf", "statement", "debtors", "vat",
}  # fmt: skip
NO_ENTRY = {
    "init": "writes a file before there is a database",
    "demo": "loads its data with the use cases of the others",
    "serve": "a service, whose requests are the operations below",
    "backoffice": "a service, whose requests are in tests/api/backoffice/test_audited_changes.py",
    "worker": "a service, whose scheduled jobs are below",
    "db upgrade": "changes the schema",
    "sandbox refresh": "fills the database of a sandbox, with an entry; in tests/api/sandbox/",
    "exchangeToken": "signs a program in, with a consent that the issuer recorded",
    "requestConsent": "signs a program in, with a consent that was recorded; in tests/api/consent/",
    "registerAgent": "gives no access; what a customer allows has its entry, in tests/api/agents/",
    "revokeToken": "for applications, in tests/api/consent/",
}
JOBS = {
    "expire_orders": "order.expire",
    "update_expected_dates": "order.reschedule",
    "remind_of_quotes": "no entry: sends mails",
    "remind_of_invoices": "no entry: sends mails",
    "announce_changes": "no entry: the changes have theirs",
    "tell_of_stock": "no entry: it tells users, and changes nothing of the reseller's",
    "tell_of_due_invoices": "no entry: it tells users, and changes nothing of the reseller's",
    "tell_of_prices": "no entry: it tells users, and changes nothing of the reseller's",
    "clean_up_identity": "no entry: deletes expired tokens and counts",
    "clean_up_access": "no entry: deletes expired links, sessions and counts",
    "clean_up_consent": "no entry: deletes what ended long ago",
    "clean_up_agents": "agent.revoke",
    "delete_expired_orders": "no entry: deletes what expired long ago",
    "delete_old_addresses": "no entry: deletes what was deleted long ago",
    "forget_requests": "no entry: deletes old entries of the request log",
    "forget_deliveries": "no entry: deletes old deliveries",
    "forget_keys": "no entry: deletes old responses",
    "forget_catalogue_changes": "no entry: deletes what no client needs any more",
    "forget_import_changes": "no entry: deletes what old imports changed",
}

_numbers = itertools.count(1)


@dataclass
class Office:
    """A shop, one of its customers, and the operator's command line."""

    shop: Service
    customer: Customer
    program: Program

    def last_documents(self) -> list[str]:
        [(invoice, note)] = rows(self.shop, "select i.last, c.last from invoice_number i, credit_note_number c")
        return ["--last-invoice", str(invoice), "--last-credit-note", str(note), "--yes"]

    def order(self, *steps: Callable[[Service, dict[str, Any]], Any]) -> str:
        placed = buy(self.customer, [("CABLE", 1)])
        for step in steps:
            step(self.shop, placed)
        return str(placed["order_reference"])

    def shipment(self) -> list[str]:
        reference = self.order(dispatch)
        return [reference, str(self.program.json("order", "show", reference)["shipments"][0]["id"])]

    def quote(self, *, priced: bool) -> str:
        quote = request_quote(self.customer)
        if priced:
            self.program.json("quote", "price", quote["confirmation_code"], "--item", "PHONE=40")
        return str(quote["confirmation_code"])

    def invoice(self) -> str:
        self.order(dispatch, issue)
        [(number,)] = rows(self.shop, "select max(number) from invoice")
        return str(number)

    def debtor(self) -> str:
        self.invoice()
        return str(self.customer.id)

    def payment(self) -> str:
        return str(self.program.json("payment", "add", "5.00", "--customer", str(self.customer.id))["id"])

    def bank_file(self) -> str:
        path = self.program.folder / "bank.csv"
        path.write_text(f"date,amount,reference\n2026-06-15,1.00,invoice {self.invoice()}\n")
        return str(path)

    def agent(self) -> str:
        program = connecting(self.shop, customer_user(self.shop, self.customer.id, "owner"))
        program.tokens()
        [(agent_id,)] = rows(self.shop, "select id from agent_consent where client_id = %s", program.client_id)
        return str(agent_id)

    def waiting_line(self) -> str:
        path = self.program.folder / "bank.csv"
        path.write_text(f"date,amount,reference\n2026-06-15,1.00,someone {next(_numbers)}\n")
        return str(self.program.json("payment", "import", str(path))["unplaced"][0]["id"])

    def imported_bank_file(self) -> str:
        return str(self.program.json("payment", "import", self.bank_file())["id"])

    def blocked(self) -> str:
        customer_id = str(self.shop.customer().id)
        self.program.json("customer", "block", customer_id, "--reason", "a test")
        return customer_id

    def key(self) -> str:
        return str(self.program.json("key", "add", str(self.customer.id))["id"])

    def application(self) -> str:
        return str(self.program.json("app", "add", "Program")["client_id"])

    def webhook(self) -> str:
        return str(self.program.json("webhook", "add", "https://erp.example/")["id"])

    def delivery(self) -> list[str]:
        webhook = self.webhook()
        return [webhook, str(self.program.json("webhook", "ping", webhook)["id"])]

    def member(self) -> str:
        email = f"member{next(_numbers)}@reseller.example"
        self.program.json("staff", "add", email, "--name", "Sam", "--role", "support")
        return email

    def token(self) -> str:
        return str(self.program.json("token", "add", "--name", "ERP", "--scope", "stock:read")["id"])

    def user(self) -> str:
        email = f"user{next(_numbers)}@shop.example"
        self.program.json("user", "invite", str(self.customer.id), email, "--role", "buyer")
        return email

    def item(self, reference: str) -> str:
        return str(self.program.json("order", "show", reference)["items"][0]["id"])

    def pending(self) -> str:
        created = self.program.json("order", "create", str(self.customer.id), "--file", self.body())
        return str(created["confirmation_code"])

    def asked(self) -> str:
        code = self.pending()
        rows(
            self.shop,
            "insert into order_approval (order_id, requested_at, shipping_method, gross, note)"
            " select id, now(), %s, 9, '' from orders where confirmation_code = %s returning order_id",
            STANDARD,
            code,
        )
        return code

    def request(self) -> str:
        asked = {"kind": "message", "order_reference": self.order(), "text": "a test"}
        return str(self.customer.post("/request", asked).json()["id"])

    def returned(self) -> tuple[str, str]:
        reference = self.order(dispatch)
        item = self.item(reference)
        done = self.program.json("order", "return", reference, "--item", f"{item}=1", "--reason", "a test")
        return str(done["number"]), f"{item}=1"

    def applied(self) -> str:
        return str(self.program.json("import", "stock", self.file())["id"])

    def failed_job(self) -> str:
        [(job,)] = rows(
            self.shop,
            "insert into procrastinate_jobs (queue_name, task_name, status, args)"
            " values ('default', 'mail_order_confirmed', 'failed', '{}') returning id",
        )
        return str(job)

    def body(self) -> str:
        path = self.program.folder / "order.json"
        path.write_text(json.dumps(order([("CABLE", 1)], shipping_method={"id": STANDARD})))
        return str(path)

    def contact(self) -> list[str]:
        added = self.program.json("customer", "add-contact", str(self.customer.id), "--name", "Ada")
        return [str(self.customer.id), str(added["id"])]

    def delivered(self) -> list[str]:
        sku = sell(self.shop, f"AUDITED-{next(_numbers)}", 10)
        self.shop.must_load("incoming", [{"sku": sku, "incoming": 3, "expected_on": "2026-07-01"}])
        return [sku, "3", "--expected", "2026-07-01"]

    def count(self) -> str:
        path = self.program.folder / "count.csv"
        path.write_text(f"sku,counted\nCABLE,{2_000 + next(_numbers)}\n")
        return str(path)

    def file(self) -> str:
        path = self.program.folder / "stock.csv"
        path.write_text(f"sku,available\nCABLE,{900 + next(_numbers)}\n")
        return str(path)


Words = Callable[[Office], list[str]]


def _with_item(office: Office, reference: str, *words: str) -> list[str]:
    return [reference, "--item", f"{office.item(reference)}=1", *words]


def _receiving(number: str, units: str) -> list[str]:
    return [number, "--restock", units]


COMMANDS: dict[str, tuple[str, Words]] = {
    "import": ("import.apply", lambda o: ["stock", o.file()]),
    "customer add": (
        "customer.create",
        lambda _: ["--email", "new@test.example", "--first-name", "A", "--last-name", "B"],
    ),
    "customer edit": ("customer.edit", lambda o: [str(o.customer.id), "--company", "New Name"]),
    "key add": ("key.create", lambda o: [str(o.customer.id)]),
    "key disable": ("key.disable", lambda o: [o.key()]),
    "app add": ("application.create", lambda _: ["Another"]),
    "app edit": ("application.edit", lambda o: [o.application(), "--name", "New name"]),
    "issuer rotate": ("issuer.rotate", lambda _: []),
    "app disable": ("application.disable", lambda o: [o.application()]),
    "app revoke": ("application.revoke", lambda o: [o.application(), str(o.customer.id)]),
    "agent revoke": ("agent.revoke", lambda o: [str(o.customer.id), o.agent()]),
    "order dispatch": ("order.dispatch", lambda o: [o.order()]),
    "order track": ("order.track", lambda o: [o.order(dispatch), "--type", "Sent", "--description", "On its way"]),
    "order video": (
        "order.video",
        lambda o: [o.order(), "--file", "https://v.example/1.mp4", "--playlist", "https://v.example/1.m3u8"],
    ),
    "order shipment": ("shipment.correct", lambda o: [*o.shipment(), "--tracking", "RIGHT"]),
    "order take-back": ("shipment.take_back", lambda o: [*o.shipment(), "--reason", "a test"]),
    "order cancel": ("order.cancel", lambda o: [o.order(), "--reason", "a test"]),
    "order invoice": ("invoice.issue", lambda o: [o.order(dispatch)]),
    "order pay": ("payment.record", lambda o: [o.order(dispatch, issue), "1.00"]),
    "payment add": ("payment.record", lambda o: ["5.00", "--customer", str(o.customer.id)]),
    "payment reverse": ("payment.reverse", lambda o: [o.payment(), "--reason", "a test"]),
    "payment import": ("payment.record bank_file.import", lambda o: [o.bank_file()]),
    "payment place": (
        "payment.record bank_line.place",
        lambda o: [o.waiting_line(), "--customer", str(o.customer.id)],
    ),
    "payment set-aside": ("bank_line.set_aside", lambda o: [o.waiting_line(), "--reason", "a test"]),
    "payment roll-back": ("payment.reverse bank_file.roll_back", lambda o: [o.imported_bank_file()]),
    "credit-note add": ("credit_note.issue", lambda o: [o.invoice(), "--amount", "1.00", "--reason", "a test"]),
    "customer note": ("customer.note", lambda o: [str(o.customer.id), "a test"]),
    "customer add-contact": ("customer.add_contact", lambda o: [str(o.customer.id), "--name", "Ada"]),
    "customer remove-contact": ("customer.remove_contact", lambda o: o.contact()),
    "customer block": ("customer.block", lambda o: [str(o.shop.customer().id), "--reason", "a test"]),
    "customer unblock": ("customer.unblock", lambda o: [o.blocked()]),
    "quote price": ("quote.price", lambda o: [o.quote(priced=False), "--item", "PHONE=40"]),
    "quote confirm": ("order.confirm", lambda o: [o.quote(priced=True), "--shipping-method", str(STANDARD)]),
    "invoice resend": ("invoice.resend", lambda o: [o.invoice()]),
    "remind": ("customer.remind", lambda o: [o.debtor()]),
    "webhook add": ("webhook.add", lambda _: ["https://erp.example/"]),
    "webhook edit": ("webhook.edit", lambda o: [o.webhook(), "--state", "paused"]),
    "webhook rotate": ("webhook.rotate", lambda o: [o.webhook()]),
    "webhook ping": ("webhook.ping", lambda o: [o.webhook()]),
    "webhook redeliver": ("webhook.redeliver", lambda o: o.delivery()),
    "webhook replay": ("webhook.replay", lambda o: [o.webhook(), "--from", "1", "--to", "9"]),
    "webhook remove": ("webhook.remove", lambda o: [o.webhook()]),
    "secret rotate": ("secret.rotate", lambda _: []),
    "staff add": ("staff.create", lambda _: ["new@reseller.example", "--name", "Sam", "--role", "support"]),
    "staff edit": ("staff.edit", lambda o: [o.member(), "--role", "finance"]),
    "staff reset": ("staff.reset", lambda o: [o.member()]),
    "staff disable": ("staff.disable", lambda o: [o.member()]),
    "token add": ("token.create", lambda _: ["--name", "ERP", "--scope", "stock:read"]),
    "token revoke": ("token.revoke", lambda o: [o.token()]),
    "user invite": ("user.invite", lambda o: [str(o.customer.id), "new@shop.example", "--role", "buyer"]),
    "user reset": ("user.reset", lambda o: [o.user()]),
    "user edit": ("user.change_role", lambda o: [o.user(), "--limit", "100"]),
    "user disable": ("user.disable", lambda o: [o.user()]),
    "order create": ("order.create", lambda o: [str(o.customer.id), "--file", o.body()]),
    "order confirm": ("order.confirm", lambda o: [o.pending()]),
    "order amend": ("order.amend", lambda o: [o.order(), "--reference", "PO-2"]),
    "order external-id": ("order.external_id", lambda o: [o.order(), "SO-1"]),
    "order note": ("order.note", lambda o: [o.order(), "a test"]),
    "order return": ("return.open", lambda o: _with_item(o, o.order(dispatch), "--reason", "a test")),
    "return receive": ("return.receive return.close", lambda o: _receiving(*o.returned())),
    "return close": ("return.close", lambda o: [o.returned()[0]]),
    "approval approve": ("order.confirm order.approve", lambda o: [o.asked()]),
    "approval decline": ("order.cancel order.decline_approval", lambda o: [o.asked(), "--reason", "a test"]),
    "request close": ("request.close", lambda o: [o.request(), "--text", "a test"]),
    "quote decline": ("quote.decline", lambda o: [o.quote(priced=False), "--reason", "a test"]),
    "price change": ("import.apply", lambda _: ["--raise-percent", "5"]),
    "imports roll-back": ("import.roll_back", lambda o: [o.applied()]),
    "job retry": ("job.retry", lambda o: [o.failed_job()]),
    "customer erase": ("customer.erase", lambda o: [str(o.shop.customer().id), "--yes"]),
    "db restored": ("log.restore", lambda o: o.last_documents()),
    "stock receive": ("delivery.receive stock.adjust", lambda o: o.delivered()),
    "stock count": ("stock.adjust", lambda o: [o.count()]),
    "stock adjust": ("stock.adjust", lambda _: ["CABLE", "--change", "1", "--reason", "a test"]),
}

OPERATIONS: dict[str, tuple[str, Callable[[Customer], Any]]] = {
    "createOrder": ("order.create", create),
    "confirmOrder": ("order.confirm", lambda c: confirm(c, create(c))),
    "createQuote": ("quote.request", request_quote),
    "createAddress": ("address.create", lambda c: c.post("/customer/address", ADDRESS)),
    "deleteAddress": (
        "address.delete",
        lambda c: c.delete(f"/customer/address/{c.post('/customer/address', ADDRESS).json()['id']}"),
    ),
    "replaceAddress": (
        "address.change",
        lambda c: c.put(
            f"/customer/address/{c.post('/customer/address', ADDRESS).json()['id']}", {**ADDRESS, "zip": "YO1 7HH"}
        ),
    ),
    "declineQuote": (
        "quote.decline",
        lambda c: c.post(f"/quote/{request_quote(c)['confirmation_code']}/decline", {"reason": "a test"}),
    ),
    "openRequest": (
        "request.open",
        lambda c: c.post(
            "/request", {"kind": "message", "order_reference": buy(c)["order_reference"], "text": "a test"}
        ),
    ),
    "addConfigurations": (
        "order.configure",
        lambda c: _configure(c, c.post("/order", order([("ROUTER", 1)], auto_confirm=True,
                                                       shipping_method={"id": STANDARD})).json()),
    ),
}  # fmt: skip


def _configure(customer: Customer, placed: dict[str, Any]) -> None:
    path = f"/order/{placed['order_id']}/item/{placed['items'][0]['id']}/configuration"
    body = {"configurations": [{"adsl_username": "u@isp.example", "adsl_password": "open-sesame"}]}
    customer.post(path, body).raise_for_status()


@pytest.fixture(scope="module")
def office(shop: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Office:
    sell(shop, "ROUTER", 60, available=50, configurable=True)
    environment = {
        "TRADECOUNTER_SECRET_KEY": SECRET,
        "TRADECOUNTER_SELLER_NAME": "Trade & Sons",
        "TRADECOUNTER_SELLER_ADDRESS": "7 Sales Street, York, YO1 7HH",
        "TRADECOUNTER_SELLER_VAT_NUMBER": "GB123456782",
    }
    program = Program(tmp_path_factory.mktemp("audited"), shop.database_url, forker, environment)
    program.json("secret", "rotate")  # registers the key
    return Office(shop, shop.customer(order_mails=True), program)


def entries_since(shop: Service, last: int) -> list[tuple[Any, ...]]:
    return rows(
        shop,
        "select action, actor_kind, actor_name, address is not null, subject, before || after from audit_entry"
        " where id > %s order by id",
        last,
    )


def last_entry(shop: Service) -> int:
    [(last,)] = rows(shop, "select coalesce(max(id), 0) from audit_entry")
    return int(last)


def test_every_command_operation_and_job_is_listed(office: Office) -> None:
    writing = {e.operation.name for e in office.shop.application.endpoints if e.operation.method not in {"GET", "HEAD"}}
    assert set(all_commands()) | writing == READING | NO_ENTRY.keys() | COMMANDS.keys() | OPERATIONS.keys()
    assert {job.name for job in periodic_jobs(Settings())} == JOBS.keys()


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_changes_something_leaves_an_entry_by_the_system_user(office: Office, command: str) -> None:
    action, words = COMMANDS[command]
    given = words(office)
    last = last_entry(office.shop)
    done = office.program.run(*command.split(), *given)
    assert done.status == 0, done
    user = pwd.getpwuid(os.geteuid()).pw_name
    found = [entry[:4] for entry in entries_since(office.shop, last)]
    assert found == [(each, "command_line", user, False) for each in action.split()]


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_that_changes_something_leaves_an_entry_by_the_key(office: Office, name: str) -> None:
    action, call = OPERATIONS[name]
    last = last_entry(office.shop)
    call(office.customer)
    found = entries_since(office.shop, last)
    assert found[-1][:4] == (action, "key", "test", True)
    assert "open-sesame" not in str(found)


def test_the_log_is_listed_by_subject_actor_and_time(office: Office) -> None:
    reference = office.order(dispatch)
    listed = office.program.json("audit", "--subject", f"order/{reference}")
    assert [entry["action"] for entry in listed] == ["order.dispatch", "order.confirm"]
    assert listed[1]["actor"]["kind"] == "key"
    assert listed[0]["after"]["status"] == "Dispatched"
    assert office.program.json("audit", "--subject", f"order/{reference}", "--actor", "system") == listed[:1]
    assert office.program.json("audit", "--subject", f"order/{reference}", "--to", "2026-01-01") == []
    assert reference in office.program.text("audit", "--actor", "test", "--from", "2026-06-16")
    office.program.json("event", "list", "--after", "0", "--type", "order.dispatched")
