"""E-mail over SMTP: delivery, retries and rejection; the password is never logged."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword

from support.certificates import make_certificate, server_side
from support.events import number_events
from support.mail import (
    BrokenStartTls,
    deliver_mail,
    drain_to,
    forget_jobs,
    free_port,
    jobs,
    let_time_pass,
    mail_server,
)
from support.names import names_of_this_machine
from support.orders import buy, rows
from support.quotes import price_as_support, request_quote
from support.service import MORNING, Service
from tradecounter.jobs.pages.staff import reason_of
from tradecounter.kit.email_addresses import parse_email
from tradecounter.notifications.mail import Letter, make_mail
from tradecounter.notifications.transport import MailServer

BUYER = "buyer@harbour.example"
CONTACT: dict[str, Any] = {"order_notifications": {"email_address": BUYER}}
CONFIRMED = "mail_order_confirmed"
REMOTE = "mail.example"


class Logins(list[LoginPassword]):
    """Accept every login to a mail server, and record its credentials."""

    def __call__(self, *given: Any) -> AuthResult:
        self.append(given[-1])
        return AuthResult(success=True)


@pytest.fixture(scope="module")
def own_certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate and its key."""
    return make_certificate(Path(tmp_path_factory.mktemp("tls")), REMOTE, "localhost")


@pytest.fixture(autouse=True)
def no_jobs(shop: Service) -> Iterator[None]:
    yield
    forget_jobs(shop)


def test_a_mail_is_delivered(shop: Service) -> None:
    placed = buy(shop.customer(), **CONTACT)
    with mail_server() as inbox:
        drain_to(shop, inbox.url)
    [mail] = inbox.mails
    assert inbox.recipients == [[BUYER]]
    assert placed["order_reference"] in mail["Subject"]
    assert jobs(shop) == []


@pytest.mark.sweep
def test_mail_waits_while_the_mail_server_is_down(shop: Service, caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    buy(shop.customer(), **CONTACT)
    drain_to(shop, f"smtp://127.0.0.1:{port}")
    assert jobs(shop) == [(CONFIRMED, "todo", 1)]
    drain_to(shop, f"smtp://127.0.0.1:{port}")
    assert jobs(shop) == [(CONFIRMED, "todo", 1)]  # the retry is not due yet
    let_time_pass(shop)
    with mail_server(port) as inbox:
        drain_to(shop, inbox.url)
    assert len(inbox.mails) == 1
    assert jobs(shop) == []
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.sweep
@pytest.mark.parametrize("place", ["mail", "recipient"])
def test_a_busy_mail_server_is_retried_without_limit(shop: Service, place: str) -> None:
    buy(shop.customer(), **CONTACT)
    with mail_server() as inbox:
        if place == "mail":
            inbox.response = "451 Try later"
        else:
            inbox.responses[BUYER] = "450 Greylisted"
        for attempts in range(1, 7):
            drain_to(shop, inbox.url)
            assert jobs(shop) == [(CONFIRMED, "todo", attempts)]
            let_time_pass(shop)
        inbox.response, inbox.responses = "250 OK", {}
        drain_to(shop, inbox.url)
        assert len(inbox.mails) == 1


@pytest.mark.sweep
@pytest.mark.parametrize("place", ["mail", "recipient"])
def test_a_permanently_rejected_mail_fails_after_a_few_attempts_and_is_kept(
    shop: Service, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    buy(shop.customer(), **CONTACT)
    with mail_server() as inbox:
        if place == "mail":
            inbox.response = "554 No spam please"
        else:
            inbox.responses[BUYER] = "550 No such user"
        for _ in range(7):
            drain_to(shop, inbox.url)
            let_time_pass(shop)
    assert jobs(shop) == [(CONFIRMED, "failed", 5)]
    number_events(shop)
    once = (
        "select distinct count(*), data ->> 'name', data ->> 'error' from event where type = 'job.failed' group by data"
    )
    assert rows(shop, once) == [(1, CONFIRMED, "Rejected")]
    assert "rejects the recipient's address or this e-mail" in reason_of({"error": "Rejected"})
    [error] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert error.exc_info is not None
    assert "554 No spam please" in str(error.exc_info[1]) or "550 No such user" in str(error.exc_info[1])


@pytest.mark.sweep
def test_a_mail_rejected_for_one_recipient_reaches_the_other_once(shop: Service) -> None:
    buyer = shop.customer(email_address="owner@harbour.example")
    quote = request_quote(buyer, **CONTACT)
    deliver_mail(shop)
    price_as_support(shop, quote, ("PHONE", "40"))
    with mail_server() as inbox:
        inbox.responses[BUYER] = "550 No such user"
        drain_to(shop, inbox.url)
    assert inbox.recipients == [["owner@harbour.example"]]
    assert jobs(shop) == []


async def _give_up_soon(url: str) -> float:
    address = parse_email("a@x.example")
    assert address is not None
    mail = make_mail(
        Letter(subject="s", text="t", html="h"),
        name="thing-1", installation="1", happened=MORNING, now=MORNING, sender=address, to=[address], reply_to=None,
    )  # fmt: skip
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(MailServer(url).send(mail), timeout=0.2)
    return time.monotonic() - started


def test_a_stopping_worker_does_not_wait_for_the_mail_server() -> None:
    with mail_server() as inbox:
        inbox.seconds = 20
        assert asyncio.run(_give_up_soon(inbox.url)) < 5


def test_user_and_password_are_decoded(shop: Service) -> None:
    tried = Logins()
    buy(shop.customer(), **CONTACT)
    options: dict[str, Any] = {"authenticator": tried, "auth_require_tls": False}
    with mail_server(scheme="smtp+plain", login="ad%40min:p%3Aw%2Fd%20%C3%A9@", **options) as inbox:
        drain_to(shop, inbox.url)
    assert tried == [LoginPassword(b"ad@min", b"p:w/d \xc3\xa9")]
    assert len(inbox.mails) == 1


def test_a_wrong_password_is_not_logged_and_mail_waits(
    shop: Service, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def reject(*_: Any) -> AuthResult:
        return AuthResult(success=False, handled=False)

    buy(shop.customer(), **CONTACT)
    options: dict[str, Any] = {"authenticator": reject, "auth_require_tls": False}
    with mail_server(scheme="smtp+plain", login="admin:Sesame99@", **options) as inbox:
        drain_to(shop, inbox.url)
    assert jobs(shop) == [(CONFIRMED, "todo", 1)]
    printed = capsys.readouterr()
    logged = printed.out + printed.err + caplog.text
    assert "rejects the user and password" in logged
    assert "Sesame99" not in logged
    assert "U2VzYW1lOTk" not in logged


@pytest.mark.sweep
def test_an_untrusted_certificate_is_rejected(shop: Service, own_certificate: Path) -> None:
    buy(shop.customer(), **CONTACT)
    with mail_server(tls_context=server_side(own_certificate)) as inbox:
        drain_to(shop, inbox.url)
    assert inbox.mails == []
    assert jobs(shop) == [(CONFIRMED, "todo", 1)]


@pytest.mark.sweep
def test_mail_is_encrypted_when_the_server_offers_it(
    shop: Service, own_certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(own_certificate))  # as an operator does for a private certificate
    buy(shop.customer(), **CONTACT)
    with mail_server(tls_context=server_side(own_certificate), require_starttls=True) as inbox:
        drain_to(shop, inbox.url)
    assert len(inbox.mails) == 1
    buy(shop.customer(), **CONTACT)
    with mail_server(scheme="smtps", ssl_context=server_side(own_certificate)) as inbox:
        drain_to(shop, inbox.url)
    assert len(inbox.mails) == 1


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("host", "login"), [("127.0.0.1", "admin:Sesame99@"), ("127.0.0.1", "admin@"), ("localhost", "admin:Sesame99@"),
                        (REMOTE, ""), (REMOTE, "admin:Sesame99@")]
)  # fmt: skip
def test_nothing_is_sent_without_starttls_where_it_is_required(
    shop: Service, host: str, login: str, own_certificate: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("SSL_CERT_FILE", str(own_certificate))
    tried = Logins()
    port = free_port()
    options: dict[str, Any] = {"login": login, "host": host, "authenticator": tried}
    buy(shop.customer(), order_notifications={"email_address": "jürgen@münchen.example"})
    with names_of_this_machine(REMOTE):
        with mail_server(port, auth_require_tls=False, **options) as inbox:
            for attempts in (1, 2):
                drain_to(shop, inbox.url)
                assert jobs(shop) == [(CONFIRMED, "todo", attempts)]
                let_time_pass(shop)
        assert (tried, inbox.started, inbox.mails) == ([], 0, [])
        logged = capsys.readouterr().out
        assert f"the mail server {host} does not offer STARTTLS" in logged
        assert "Sesame99" not in logged
        with mail_server(port, tls_context=server_side(own_certificate), require_starttls=True, **options) as inbox:
            drain_to(shop, inbox.url)
    assert (len(inbox.mails), len(tried), jobs(shop)) == (1, 1 if login else 0, [])


def test_a_server_whose_starttls_fails_gets_no_password(shop: Service, own_certificate: Path) -> None:
    tried = Logins()
    buy(shop.customer(), **CONTACT)
    options: dict[str, Any] = {"authenticator": tried, "auth_require_tls": False}
    options |= {"controller": BrokenStartTls, "tls_context": server_side(own_certificate)}
    with mail_server(login="admin:Sesame99@", **options) as inbox:
        drain_to(shop, inbox.url)
    assert (tried, inbox.mails, jobs(shop)) == ([], [], [(CONFIRMED, "todo", 1)])


def test_a_url_can_allow_mail_without_tls(shop: Service, own_certificate: Path) -> None:
    tried = Logins()
    buy(shop.customer(), **CONTACT)
    options: dict[str, Any] = {"scheme": "smtp+plain", "authenticator": tried, "auth_require_tls": False}
    with (
        names_of_this_machine(REMOTE),
        mail_server(host=REMOTE, login="admin:Sesame99@", tls_context=server_side(own_certificate), **options) as inbox,
    ):
        drain_to(shop, inbox.url)
    assert (len(tried), len(inbox.mails), jobs(shop)) == (1, 1, [])


@pytest.mark.sweep
def test_an_internationalised_address_needs_a_server_that_supports_it(shop: Service) -> None:
    buy(shop.customer(), order_notifications={"email_address": "jürgen@münchen.example"})
    with mail_server(enable_SMTPUTF8=False) as inbox:
        drain_to(shop, inbox.url)
    assert jobs(shop) == [(CONFIRMED, "todo", 1)]
    let_time_pass(shop)
    with mail_server() as inbox:
        drain_to(shop, inbox.url)
    assert inbox.recipients == [["jürgen@xn--mnchen-3ya.example"]]


def test_an_invalid_address_that_an_older_version_accepted_fails_the_job(shop: Service) -> None:
    placed = buy(shop.customer(), **CONTACT)
    with psycopg.connect(shop.database_url, autocommit=True) as database:
        database.execute(
            "update orders set order_notifications = %s where id = %s",
            ['{"email_address": "x@y>,<z.example"}', placed["order_id"]],
        )
    with mail_server() as inbox:
        drain_to(shop, inbox.url)
    assert inbox.mails == []
    assert jobs(shop) == [(CONFIRMED, "failed", 1)]
