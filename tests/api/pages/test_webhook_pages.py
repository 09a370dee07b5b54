"""The staff's pages of webhooks and their deliveries."""

import re
from collections.abc import Iterator

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.orders import buy, rows
from support.pages import Person, fields_of, staff_member, text_of
from support.receiver import deliver
from support.service import Service

_SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]+")


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop, webhook_http=True, webhook_networks="127.0.0.0/8") as running:
        yield running


@pytest.fixture
def webhook(sam: Person) -> int:
    """A webhook at an address where nothing listens."""
    return _add(sam, url="http://127.0.0.1:9/events", description="ERP & <more>")


def test_a_webhook_is_added_and_its_secret_is_shown_once(office: BackOfficeSite, sam: Person) -> None:
    fields = fields_of(sam.get("/webhook/new")) | {"url": "http://127.0.0.1:9/new", "types": ["order.created"]}
    made = sam.send("/webhook/new", fields)
    assert made.status_code == 200
    assert _SECRET.search(made.text)
    assert made.headers["Cache-Control"] == "no-store"
    webhook = int(made.text.split('href="/webhook/')[-1].split('"')[0])
    again = sam.send("/webhook/new", fields)
    assert again.status_code == 303
    assert not _SECRET.search(sam.get(f"/webhook/{webhook}").text)
    assert rows(office.service, "select url, types from webhook where id = %s", webhook) == [
        ("http://127.0.0.1:9/new", ["order.created"])
    ]


def test_errors_of_a_webhook_are_beside_their_fields(sam: Person) -> None:
    fields = fields_of(sam.get("/webhook/new"))
    for url in ("ftp://x/", "http://10.0.0.1/", ""):
        wrong = sam.send("/webhook/new", {**fields, "url": url, "description": "<i>kept</i>"})
        assert wrong.status_code == 400
        assert "form-url-error" in wrong.text
        assert "&lt;i&gt;kept" in wrong.text
    wrong = sam.send("/webhook/new", {**fields, "url": "http://127.0.0.1:9/", "types": ["order.created", "no.type"]})
    assert "form-types-error" in wrong.text
    unknown = sam.send("/webhook/new", {**fields, "url": "http://127.0.0.1:9/", "customer_id": "999999"})
    assert unknown.status_code == 404


def test_webhooks_are_listed_with_their_state_and_escaped(office: BackOfficeSite, sam: Person, webhook: int) -> None:
    page = sam.get("/webhook")
    assert f'href="/webhook/{webhook}"' in page.text
    assert "ERP &amp; &lt;more&gt;" in page.text
    customer = office.service.customer()
    theirs = _add(sam, url="http://127.0.0.1:9/theirs", customer_id=str(customer.id))
    only = sam.get(f"/webhook?customer_id={customer.id}").text
    assert f'href="/webhook/{theirs}"' in only
    assert f'href="/webhook/{webhook}"' not in only
    assert "http://127.0.0.1:9/theirs" in sam.get(f"/webhook?customer_id={customer.id}&format=csv").text


def test_a_webhook_is_changed(office: BackOfficeSite, sam: Person, webhook: int) -> None:
    path = f"/webhook/{webhook}"
    fields = fields_of(sam.get(f"{path}/edit"))
    changed = {**fields, "url": "http://127.0.0.1:9/other", "description": "", "types": ["order.created"]}
    page = sam.sends(f"{path}/edit", changed)
    assert "http://127.0.0.1:9/other" in text_of(page)
    assert rows(office.service, "select description, types from webhook where id = %s", webhook) == [
        ("", ["order.created"])
    ]
    assert "form-url-error" in sam.send(f"{path}/edit", {**fields, "url": "nowhere"}).text


def test_a_webhook_is_paused_and_set_active_again(sam: Person, webhook: int) -> None:
    path = f"/webhook/{webhook}"
    paused = sam.sends(f"{path}/state", {"state": "paused"})
    assert "Paused" in text_of(paused).title()
    assert "Send a test delivery" not in paused.text
    assert sam.send(f"{path}/ping", {"once": "a"}).status_code == 409
    assert "It gets what it has missed" in text_of(sam.sends(f"{path}/state", {"state": "active"}))
    assert sam.send(f"{path}/state", {"state": "disabled"}).status_code == 400


def test_a_secret_is_rotated_and_shown_once(office: BackOfficeSite, sam: Person, webhook: int) -> None:
    path = f"/webhook/{webhook}/secret"
    fields = fields_of(sam.get(path))
    first = sam.send(path, fields)
    assert first.status_code == 200
    assert _SECRET.search(first.text)
    again = sam.send(path, fields)
    assert again.status_code == 303
    assert rows(office.service, "select count(*) from audit_entry where action = 'webhook.rotate' and subject = %s",
                f"webhook/{webhook}") == [(1,)]  # fmt: skip


def test_a_ping_and_its_attempts_are_shown_and_sent_again(office: BackOfficeSite, sam: Person, webhook: int) -> None:
    path = f"/webhook/{webhook}"
    page = sam.sends(f"{path}/ping", {"once": "ping"})
    assert "webhook.ping" in text_of(page)
    office.service.call(lambda: deliver(office.service))
    page = sam.get(path)
    assert "Failed" in text_of(page).title()
    delivery = page.text.split(f'href="{path}/delivery/')[1].split('"')[0]
    shown = sam.get(f"{path}/delivery/{delivery}")
    assert "no response" in text_of(shown)
    assert "Next attempt" in text_of(shown)
    new = sam.sends(f"{path}/delivery/{delivery}/redeliver", fields_of(shown))
    assert "This is the new delivery" in text_of(new)
    assert str(new.url) != f"{office.url}{path}/delivery/{delivery}"
    assert sam.get(f"{path}/delivery/999999").status_code == 404
    assert f",webhook.ping,webhook/{webhook}," in sam.get(f"{path}?format=csv").text


def test_a_range_is_delivered_again(office: BackOfficeSite, sam: Person, webhook: int) -> None:
    buy(office.service.customer())
    office.service.call(lambda: deliver(office.service))
    path = f"/webhook/{webhook}/replay"
    fields = fields_of(sam.get(path))
    wrong = sam.send(path, {**fields, "from": "9", "to": "2"})
    assert wrong.status_code == 400
    assert "form-to-error" in wrong.text
    assert "form-from-error" in sam.send(path, {**fields, "from": "first", "to": "2"}).text
    assert "deliver again" in text_of(sam.sends(path, {**fields, "from": "1", "to": "1000"}))


def test_a_webhook_is_deleted(sam: Person, webhook: int) -> None:
    path = f"/webhook/{webhook}"
    page = sam.sends(f"{path}/delete", fields_of(sam.get(f"{path}/delete")))
    assert "is deleted" in text_of(page)
    assert sam.get(path).status_code == 404


def test_finance_reads_webhooks_and_changes_none(office: BackOfficeSite, webhook: int) -> None:
    fran = staff_member(office.service, office.url, "finance")
    page = fran.get(f"/webhook/{webhook}").text
    for step in ("ping", "state", "retry", "edit", "secret", "delete", "replay"):
        assert f"/webhook/{webhook}/{step}" not in page
        assert fran.send(f"/webhook/{webhook}/{step}").status_code == 403
    for step in ("edit", "secret", "delete", "replay"):
        assert fran.get(f"/webhook/{webhook}/{step}").status_code == 403
    assert "/webhook/new" not in fran.get("/webhook").text
    assert staff_member(office.service, office.url, "warehouse").get("/webhook").status_code == 403


def _add(person: Person, **fields: str) -> int:
    made = person.send("/webhook/new", fields_of(person.get("/webhook/new")) | fields)
    assert made.status_code == 200, text_of(made)
    return int(made.text.split('href="/webhook/')[-1].split('"')[0])
