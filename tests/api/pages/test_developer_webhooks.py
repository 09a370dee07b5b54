"""The customer's webhooks: their pages, their deliveries, and a developer's first morning."""

import asyncio
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from standardwebhooks import Webhook as Verifier

from support.events import number_events
from support.mail import deliver_mail
from support.orders import buy, rows
from support.own_browser import Browser
from support.pages import Person, code_of, customer_user, fields_of, text_of
from support.people import PASSWORD, SECRET
from support.receiver import OK, Receiver, answering, deliver, receiving, status
from support.service import Customer, Service, running_service
from support.web_page import plain
from tradecounter.access.users import invite_user
from tradecounter.edge.pages.page_site import ACCOUNT
from tradecounter.kit.clock import SystemClock

HOME = "/account/developer"
LIST = f"{HOME}/webhook"
SENT = {"once": ""}  # a form without fields


@pytest.fixture(scope="module")
def service(shop: Service) -> Iterator[Service]:
    with running_service(shop.database_url, webhook_networks="127.0.0.0/8", webhook_http=True) as running:
        yield running


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    return service.customer()


@pytest.fixture
def dev(service: Service, customer: Customer) -> Person:
    return customer_user(service, customer.id, "developer")


def make(dev: Person, url: str = "https://erp.example/events", **fields: str) -> tuple[str, str]:
    """The path of a new webhook's page, and its secret."""
    sent = fields_of(dev.get(f"{LIST}/new")) | {"url": url, **fields}
    page = dev.send(f"{LIST}/new", sent)
    assert page.status_code == 200, page.text
    path = re.search(rf'href="({LIST}/\d+)"', page.text)
    assert path is not None
    return path[1], code_of(page, "secret")


def send_to(service: Service, dev: Person, *answers: bytes, path: str = "") -> tuple[str, Receiver]:
    """Have a webhook at a receiver get a test delivery, and all that is due; the webhook's path, and the receiver."""

    async def run() -> tuple[str, Receiver]:
        async with receiving(answering(*answers)) as receiver:
            made = path or (await asyncio.to_thread(make, dev, receiver.url))[0]
            if path:
                await asyncio.to_thread(dev.sends, f"{made}/edit", {"url": receiver.url})
            await asyncio.to_thread(dev.sends, f"{made}/ping", SENT)
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(deliver(service), service.loop))
            return made, receiver

    return asyncio.run(run())


def test_a_webhook_is_added_and_its_secret_is_shown_once(service: Service, dev: Person) -> None:
    path, secret = make(dev, types="order.dispatched", description="ERP & <shop>")
    assert secret.startswith("whsec_")
    page = dev.get(path)
    assert secret not in page.text
    assert "order.dispatched" in text_of(page)
    assert "ERP &amp; &lt;shop&gt;" in page.text
    assert "https://erp.example/events" in text_of(dev.get(LIST))
    [(owner,)] = rows(service, "select customer_id from webhook where id = %s", int(path.rpartition("/")[2]))
    assert f"Customer {owner}" in text_of(dev.get("/account"))


def test_a_form_that_is_sent_twice_adds_one_webhook(dev: Person) -> None:
    fields = fields_of(dev.get(f"{LIST}/new")) | {"url": "https://twice.example/"}
    secret = code_of(dev.send(f"{LIST}/new", fields), "secret")
    page = dev.sends(f"{LIST}/new", fields)
    assert "shown only once" in text_of(page)
    assert secret not in page.text
    assert dev.get(LIST).text.count("https://twice.example/") == 1


def test_a_wrong_address_is_explained_beside_its_field(dev: Person) -> None:
    for url in ("https://10.0.0.1/", "ftp://erp.example/", ""):
        page = dev.send(f"{LIST}/new", {"url": url, "description": "kept"})
        assert page.status_code == 400
        assert 'id="form-url-error"' in page.text
        assert 'value="kept"' in page.text
    wrong = dev.send(f"{LIST}/new", {"url": "https://erp.example/", "types": "order.created"})
    assert wrong.status_code == 400
    assert "order.created" in text_of(wrong)


def test_a_webhook_is_changed_paused_and_set_active(dev: Person) -> None:
    path, _ = make(dev, types="order.dispatched")
    form = dev.get(f"{path}/edit")
    assert 'value="order.dispatched" checked' in form.text
    page = dev.sends(f"{path}/edit", {"url": "https://new.example/hook", "description": "New"})
    assert "https://new.example/hook" in text_of(page)
    assert "All" in text_of(page)
    page = dev.sends(f"{path}/state", {"state": "paused"})
    assert "Its events are kept." in text_of(page)
    rejected = dev.send(f"{path}/ping", SENT)
    assert rejected.status_code == 409
    assert "set its state to active first" in text_of(rejected)
    assert "The webhook is active." in text_of(dev.sends(f"{path}/state", {"state": "active"}))
    assert dev.send(f"{path}/state", {"state": "disabled"}).status_code == 400


def test_a_new_secret_is_shown_once(dev: Person) -> None:
    path, secret = make(dev)
    fields = fields_of(dev.get(f"{path}/secret"))
    new = code_of(dev.send(f"{path}/secret", fields), "secret")
    assert new.startswith("whsec_")
    assert new != secret
    assert "shown only once" in text_of(dev.sends(f"{path}/secret", fields))


def test_a_deleted_webhook_is_gone(dev: Person) -> None:
    path, _ = make(dev, "https://gone.example/")
    page = dev.sends(f"{path}/delete", SENT)
    assert "The webhook of https://gone.example/ is deleted." in text_of(page)
    assert "gone.example" not in dev.get(LIST).text
    assert dev.get(path).status_code == 404


def test_a_delivery_is_shown_with_its_attempts(service: Service, dev: Person) -> None:
    path, receiver = send_to(service, dev, status(500, body="<b>out of order</b>"))
    assert [event["type"] for event in receiver.events] == ["webhook.ping"]
    page = dev.get(path)
    assert "failed" in text_of(page)
    assert "500" in text_of(page)
    delivery = re.search(rf'href="({path}/delivery/\d+)"', page.text)
    assert delivery is not None
    shown = dev.get(delivery[1])
    for part in ("Attempt 1", "500", "<b>out of order</b>"):
        assert part in plain(shown.text)
    assert "&lt;b&gt;out of order" in shown.text
    file = dev.get(f"{path}?format=csv")
    assert file.text.splitlines()[0].startswith("id,event,sequence,type")
    assert "webhook.ping" in file.text


def test_events_are_delivered_again_one_or_a_range(service: Service, dev: Person, customer: Customer) -> None:
    path, _ = send_to(service, dev)
    service.must_load("stock", [{"sku": "PHONE", "available": 100}])
    buy(customer)
    number_events(service)
    _, receiver = send_to(service, dev, path=path)
    assert "order.confirmed" in [event["type"] for event in receiver.events]
    page = dev.get(path)
    sequences = [int(text) for text in re.findall(r"sequence (\d+)", page.text)]
    again = dev.sends(f"{path}/replay", {"from": str(min(sequences)), "to": str(max(sequences))})
    assert f"Events to deliver again: {len(sequences)}." in text_of(again)
    backwards = dev.send(f"{path}/replay", {"from": "2", "to": "1"})
    assert backwards.status_code == 400
    delivery = re.search(rf'href="({path}/delivery/\d+)"', page.text)
    assert delivery is not None
    assert "The event is delivered again." in text_of(dev.sends(f"{delivery[1]}/redeliver", SENT))


def test_waiting_deliveries_are_attempted_at_once_when_the_receiver_is_mended(service: Service, dev: Person) -> None:
    path, _ = send_to(service, dev, status(500, "Retry-After: 600"))
    assert "Try again now" in text_of(dev.get(path))
    dev.sends(f"{path}/retry", SENT)
    _, receiver = send_to(service, dev, path=path)
    assert len(receiver.events) == 2
    page = text_of(dev.get(path))
    assert "Try again now" not in page
    assert "failed" not in page
    dev.sends(f"{path}/state", {"state": "paused"})
    assert dev.send(f"{path}/retry", SENT).status_code == 409
    [(actor,)] = rows(
        service,
        "select actor_name from audit_entry where action = 'webhook.retry' and subject = %s",
        path.removeprefix(f"{HOME}/"),
    )
    assert actor == dev.email


def test_deliveries_are_shown_in_pages(dev: Person) -> None:
    path, _ = make(dev)
    for _ in range(52):
        dev.send(f"{path}/ping", SENT)
    page = dev.get(path)
    following = re.search(r'rel="next" href="(.*?)"', page.text)
    assert following is not None
    pages = [page.text, dev.get(plain(following[1])).text]
    assert [len(re.findall(rf'href="{path}/delivery/\d+"', text)) for text in pages] == [50, 2]
    assert dev.get(f"{path}?after=nonsense").status_code == 400


def test_another_customers_webhook_is_not_found(service: Service, dev: Person) -> None:
    path, _ = send_to(service, dev)
    delivery = re.search(rf'href="({path}/delivery/\d+)"', dev.get(path).text)
    assert delivery is not None
    stranger = customer_user(service, service.customer().id, "owner")
    for page in (path, f"{path}/edit", f"{path}/secret", f"{path}/delete", f"{path}/replay", delivery[1]):
        assert stranger.get(page).status_code == 404
    for step in ("ping", "retry", "secret", "delete"):
        assert stranger.send(f"{path}/{step}", SENT).status_code == 404
    assert stranger.send(f"{path}/edit", {"url": "https://mine.example/"}).status_code == 404
    assert stranger.send(f"{path}/state", {"state": "paused"}).status_code == 404
    assert stranger.send(f"{path}/replay", {"from": "1", "to": "2"}).status_code == 404
    assert stranger.send(f"{delivery[1]}/redeliver", SENT).status_code == 404
    assert "delivered" in text_of(dev.get(path))


def test_the_resellers_webhooks_are_not_found(service: Service, dev: Person) -> None:
    [(webhook,)] = rows(
        service,
        "insert into webhook (url, types, description, state, secret, read_up_to, created_at)"
        " values ('https://reseller.example/', '{}', '', 'paused', '', 0, now()) returning id",
    )
    assert dev.get(f"{LIST}/{webhook}").status_code == 404
    assert "reseller.example" not in dev.get(LIST).text


def test_the_first_morning_of_a_developer(service: Service, tmp_path: Path) -> None:
    customer, now = service.customer(), service.clock.now()
    rows(service, "delete from api_key where customer_id = %s returning id", customer.id)
    invite = lambda tx: invite_user(tx, customer.id, "dev@morning.example", "developer", SECRET, now)  # noqa: E731
    service.in_transaction(invite)
    mails = [mail for _ in range(2) for mail in deliver_mail(service, base_url="https://trade.example")]
    [text] = [mail.get_body(("plain",)).get_content() for mail in mails if mail["To"] == "dev@morning.example"]  # type: ignore[union-attr]
    link = re.search(r"https://trade\.example(/\S+)", text)
    assert link is not None

    browser = Browser(service.url)
    assert browser.fill(link[1], password=PASSWORD).status_code == 303
    signed_in = browser.fill(ACCOUNT.sign_in, email="dev@morning.example", password=PASSWORD)
    assert signed_in.status_code == 303
    home = browser.get(urlsplit(signed_in.headers["Location"]).path)
    assert f'href="{HOME}"' in home.text

    assert "Make your first key" in text_of(browser.get(HOME))
    made = browser.fill(f"{HOME}/key/new", name="First")
    line = tmp_path / "first.sh"
    line.write_text(code_of(made, "first"))
    tried = subprocess.run(["bash", str(line)], capture_output=True, text=True, timeout=30, check=False)
    assert tried.returncode == 0, tried.stderr
    [(email,)] = rows(service, "select email_address from customer where id = %s", customer.id)
    assert f'"email_address":"{email}"' in tried.stdout

    async def add() -> tuple[str, str, Receiver]:
        async with receiving(answering(OK)) as receiver:
            page = await asyncio.to_thread(browser.fill, f"{LIST}/new", url=receiver.url)
            secret = code_of(page, "secret")
            ping = re.search(rf'action="({LIST}/\d+)/ping"', page.text)
            assert ping is not None
            sent = await asyncio.to_thread(browser.send, f"{ping[1]}/ping", **SENT)
            assert (sent.status_code, sent.headers["Location"]) == (303, ping[1])
            waiting = await asyncio.to_thread(browser.get, ping[1])
            assert "A test delivery is on its way." in text_of(waiting)
            await asyncio.wrap_future(
                asyncio.run_coroutine_threadsafe(deliver(service, clock=SystemClock()), service.loop)
            )
            return ping[1], secret, receiver

    path, secret, receiver = asyncio.run(add())
    [request] = receiver.received
    assert Verifier(secret).verify(request.body, request.headers)["type"] == "webhook.ping"
    shown = text_of(browser.get(path))
    assert "delivered" in shown
    assert "200" in shown
