"""The staff's pages of background jobs and of the audit log."""

import json

import pytest

from support.backoffice import BackOfficeSite
from support.events import number_events
from support.mail import deliver_mail
from support.orders import buy, dispatch, rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.quotes import request_quote
from support.service import Service
from tradecounter.audit.record import audit
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.events.record import record_event
from tradecounter.kit.actor import Actor


@pytest.fixture
def failed(office: BackOfficeSite) -> int:
    """A mail that failed for good, as the worker records it."""
    return fail(office.service, "Rejected")


def fail(service: Service, error: str) -> int:
    order = buy(service.customer())["order_id"]
    [(job,)] = rows(
        service,
        "insert into procrastinate_jobs (queue_name, task_name, status, args, attempts)"
        " values ('default', 'mail_order_confirmed', 'failed', %s, 5) returning id",
        json.dumps({"order_id": order}),
    )

    async def record(tx: Transaction) -> None:
        data = {"id": job, "name": "mail_order_confirmed", "arguments": {"order_id": order}, "error": error}
        record_event(tx, "job.failed", f"job/{job}", service.clock.now(), None, data)

    service.in_transaction(record)
    return int(job)


def test_failed_jobs_say_what_and_why(office: BackOfficeSite, sam: Person, failed: int) -> None:
    page = sam.get("/job")
    text = text_of(page)
    for part in ("E-mail: order confirmed", "rejects the recipient's address", str(failed), "Order "):
        assert part in text
    assert 'href="/order/' in page.text
    other = fail(office.service, "ZeroDivisionError")
    assert "Unexpected: ZeroDivisionError" in text_of(sam.get("/job"))
    assert str(other) in sam.get("/job?format=csv").text


def test_a_job_that_is_refused_for_good_says_why(office: BackOfficeSite, sam: Person) -> None:
    shop = office.service
    placed = buy(shop.customer())
    dispatch(shop, placed)

    async def work(tx: Transaction) -> None:
        queue(tx, "invoice_dispatch", order_id=placed["order_id"])

    shop.in_transaction(work)
    [(job,)] = rows(
        shop, "update procrastinate_jobs set attempts = 12 where task_name = 'invoice_dispatch' returning id"
    )
    deliver_mail(shop)
    assert "the built-in example seller" in text_of(sam.get("/job"))
    number_events(shop)
    told = "select data ->> 'name' from event where type = 'job.failed' and subject = %s"
    assert rows(shop, told, f"job/{job}") == [("invoice_dispatch",)]


def test_a_failed_job_runs_again(office: BackOfficeSite, sam: Person, failed: int) -> None:
    path = f"/job/{failed}/retry"
    assert "runs again" in text_of(sam.sends(path, fields_of(sam.get(path))))
    assert rows(office.service, "select status::text from procrastinate_jobs where id = %s", failed) == [("todo",)]
    assert f'href="{path}"' not in sam.get("/job").text
    assert f"{failed}" in text_of(sam.get("/job?state=todo"))
    assert sam.send(path, {"once": "other"}).status_code == 409
    assert sam.get("/job?state=nothing").status_code == 400


def test_finance_reads_jobs_and_runs_none(office: BackOfficeSite, failed: int) -> None:
    fran = staff_member(office.service, office.url, "finance")
    assert f"/job/{failed}/retry" not in fran.get("/job").text
    assert fran.send(f"/job/{failed}/retry").status_code == 403
    assert staff_member(office.service, office.url, "warehouse").get("/job").status_code == 403


def change(service: Service, actor: Actor, subject: str, before: dict[str, object], after: dict[str, object]) -> None:
    """Record a change in the audit log."""

    async def run() -> None:
        async with transaction(service.commands, actor) as tx:
            audit(tx, "thing.edit", subject, service.clock.now(), before=before, after=after)

    service.call(run)


def test_the_audit_log_shows_before_and_after(office: BackOfficeSite, sam: Person) -> None:
    actor = Actor("token", "ERP <b>", 7, "pat@reseller.example", "192.0.2.7")
    change(
        office.service,
        actor,
        "thing/1",
        {"limit": 5, "roles": ["a"], "on": True},
        {"limit": 6, "roles": [], "on": None},
    )
    page = sam.get("/audit?subject=thing/1")
    text = text_of(page)
    for part in ("Thing: edit", "for pat@reseller.example", "192.0.2.7", "Limit", "5", "6", "yes"):
        assert part in text
    assert "ERP &lt;b&gt;" in page.text
    assert "<del>5</del>" in page.text


def test_the_audit_log_is_filtered(office: BackOfficeSite, sam: Person) -> None:
    change(office.service, Actor("token", "Robot", 77), "thing/2", {}, {"a": 1})
    for query in ("actor=Robot", "actor=token/77", "subject=thing/2", "actor=Robot&from=2026-06-16&to=2026-06-16"):
        assert "thing/2" in text_of(sam.get(f"/audit?{query}"))
    for query in ("actor=nobody", "actor=Robot&from=2026-06-17", "actor=Robot&to=2026-06-15", "subject=thing/3"):
        assert "Nothing matches" in text_of(sam.get(f"/audit?{query}"))
    assert "form-from-error" in sam.get("/audit?from=soon").text
    assert "thing/2" in sam.get("/audit?actor=Robot&format=csv").text


def test_pages_of_the_audit_log_have_each_entry_once(office: BackOfficeSite, sam: Person) -> None:
    for number in range(53):
        change(office.service, Actor("token", "Many", 78), f"many/{number}", {}, {"a": number})
    first = sam.get("/audit?actor=token/78").text
    following = first.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    second = sam.get(following).text
    found = [part.split('"')[0] for page in (first, second) for part in page.split('href="/audit?subject=')[1:]]
    assert len(found) == len(set(found)) == 53
    assert found[0].endswith("52")


def test_the_audit_log_leads_to_what_was_changed(office: BackOfficeSite, sam: Person) -> None:
    placed = buy(office.service.customer())
    page = sam.get(f"/audit?subject=order/{placed['order_reference']}").text
    assert f'href="/order/{placed["order_reference"]}"' in page
    assert staff_member(office.service, office.url, "warehouse").get("/audit").status_code == 403


def test_histories_lead_to_the_audit_log(office: BackOfficeSite, sam: Person) -> None:
    customer = office.service.customer()
    placed, quote = buy(customer), request_quote(customer)
    for page, subject in (
        (f"/order/{placed['order_reference']}", f"order/{placed['order_reference']}"),
        (f"/quote/{quote['confirmation_code']}", f"quote/{quote['confirmation_code']}"),
        (f"/customer/{customer.id}/history", f"customer/{customer.id}"),
        ("/product/PHONE", "product/PHONE"),
    ):
        assert f'href="/audit?subject={subject}"' in sam.get(page).text, page
    reader = staff_member(office.service, office.url, "warehouse")
    assert "/audit?subject" not in reader.get(f"/order/{placed['order_reference']}").text


def test_the_audit_log_finds_a_reference_alone(office: BackOfficeSite, sam: Person) -> None:
    placed = buy(office.service.customer())
    sam.sends(f"/order/{placed['order_reference']}/note", {"once": "", "text": "Found by its reference"})
    for typed in (placed["order_reference"], placed["order_reference"].lower()):
        assert "Found by its reference" in text_of(sam.get(f"/audit?subject={typed}")), typed
    assert "Nothing matches" in text_of(sam.get("/audit?subject=ORD-0"))


def test_the_audit_log_finds_orders_by_their_customers_reference(office: BackOfficeSite, sam: Person) -> None:
    first, second = (buy(office.service.customer(), customer_reference=f"PO 77/{end}") for end in ("a", "A"))
    found = office.caller("audit:read").get("/api/audit", params={"subject": "po 77/A"}).json()
    assert [(entry["subject"], entry["action"]) for entry in found] == [
        (subject, action)
        for placed in (first, second)
        for subject, action in (
            (f"order/{placed['confirmation_code']}", "order.create"),
            (f"order/{placed['order_reference']}", "order.confirm"),
        )
    ]
    assert f"order/{second['order_reference']}" in text_of(sam.get("/audit?subject=PO+77/A"))


def test_the_audit_log_finds_a_sku_with_a_slash(office: BackOfficeSite, sam: Person) -> None:
    sku = sell(office.service, "SPLICE-4/8", 10)
    sam.sends("/stock-adjustment", {"once": "", "sku": sku, "change": "3", "reason": "Found in a drawer"})
    assert "Found in a drawer" in text_of(sam.get(f"/audit?subject={sku}"))
