"""Every kind of secret is used once; afterwards none is in logs, traces, metrics, the database or other responses."""

import base64
import logging
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
import psycopg
import pytest
import structlog
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from structlog.testing import capture_logs
from structlog.tracebacks import ExceptionDictTransformer

from support.backoffice import BackOfficeSite, backoffice_of
from support.consent import Consenting, running_consent
from support.mail import deliver_mail, internal_id
from support.orders import buy, sell
from support.own_browser import Browser
from support.people import PASSWORD, totp
from support.quotes import price_as_support, request_quote
from support.service import Service, unused_client_address
from support.shop import order, stock_shop
from support.signing_in import place_at
from tradecounter.db.embedded_programs import programs
from tradecounter.db.transaction import Transaction, reading
from tradecounter.edge.people import Site
from tradecounter.feeds.manage import add_feed, feed_vault
from tradecounter.feeds.wire import FeedTerms
from tradecounter.identity.installation_secret import secret_key
from tradecounter.jobs.watch import Backlog
from tradecounter.kit.telemetry import SPANS
from tradecounter.monitoring.listener import metrics_served
from tradecounter.monitoring.metrics import combined
from tradecounter.monitoring.traces import SpanRecorder
from tradecounter.quotes.quote_links import quote_token
from tradecounter.sites.http.site import site_figures

pytestmark = pytest.mark.sweep

ADSL = "open-sesame-of-the-line"
MAIL_PASSWORD = "password-of-the-mail-server"


@dataclass
class Planted:
    """Where secrets were used, and what could show them."""

    consenting: Consenting
    office: BackOfficeSite
    secrets: dict[str, str] = field(default_factory=dict)
    browsers: dict[Site, Browser] = field(default_factory=dict)
    logs: str = ""
    spans: str = ""
    metrics: str = ""

    @property
    def service(self) -> Service:
        return self.consenting.service

    def found_in(self, text: str) -> list[str]:
        """The names of the secrets in a text, in any spelling."""
        return [name for name, secret in self.secrets.items() if any(each in text for each in spellings(secret))]


def spellings(secret: str) -> set[str]:
    """A secret as text, in an address, in base 64, and as the database shows bytes."""
    raw = secret.encode()
    return {secret, quote(secret, safe=""), base64.b64encode(raw).decode().rstrip("="), raw.hex()}


@pytest.fixture(scope="module")
def planted(database_url: str) -> Iterator[Planted]:
    kept, text_logs = InMemorySpanExporter(), logging.StreamHandler(stream := _Text())
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    logging.getLogger().addHandler(text_logs)
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
    ]
    with (
        running_consent(database_url, log_requests=True) as consenting,
        backoffice_of(consenting.service, log_requests=True) as office,
    ):
        stock_shop(consenting.service)
        found = Planted(consenting, office)
        SPANS.recorder = SpanRecorder(provider)
        try:
            with capture_logs(processors=processors) as logs:
                plant_credentials(found)
                for site in ("staff", "account"):
                    plant_sign_in(found, site)
                plant_addresses(found)
                break_something(found)
        finally:
            SPANS.recorder = None
            logging.getLogger().removeHandler(text_logs)
        found.logs = f"{logs}{''.join(stream.lines)}"
        found.spans = "".join(span.to_json() for span in kept.get_finished_spans())
        found.metrics = metrics_of(found)
        yield found


class _Text:
    """What the standard library's logging writes."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, text: str) -> None:
        self.lines.append(text)

    def flush(self) -> None:
        """Do nothing: there is no buffer."""


def plant_credentials(planted: Planted) -> None:
    """API keys, tokens, secrets of applications and webhooks, and those in configurations."""
    consenting, service, secrets = planted.consenting, planted.service, planted.secrets
    customer = consenting.customer
    service.refresh()
    secrets["secret key"] = service.settings.secret_key or ""
    secrets["API key"] = customer.key
    customer.get("/product?limit=2")
    service.client().get(f"/product?limit=2&api-key={customer.key}")
    secrets["wrong API key"] = customer.key[:8] + "w" * (len(customer.key) - 8)
    service.client(**{"X-Api-Key": secrets["wrong API key"]}).get("/customer")
    secrets["client secret"] = consenting.application.client_secret
    code = consenting.code()
    secrets["authorisation code"], secrets["code verifier"] = code.code, code.verifier
    given = consenting.redeem(code).json()
    secrets["consent"], secrets["refresh token"] = given["access_token"], given["refresh_token"]
    secrets["access token"] = consenting.access_token(secrets["consent"])
    assert consenting.use(secrets["access token"]).status_code == 200
    secrets["next refresh token"] = consenting.refresh(secrets["refresh token"]).json()["refresh_token"]
    secrets["service token"] = planted.office.token()
    staff = planted.office.client(secrets["service token"])
    url = f"/api/customer/{customer.id}/key"
    secrets["key made by staff"] = staff.post(url, json={"name": "second"}, headers={"Idempotency-Key": "key"}).json()[
        "key"
    ]
    endpoint, once = {"url": "https://erp.example/events"}, {"Idempotency-Key": "webhook"}
    webhook = staff.post("/api/webhook", json=endpoint, headers=once).json()
    secrets["webhook secret"] = webhook["secret"].removeprefix("whsec_")
    rotated = staff.post(f"/api/webhook/{webhook['id']}/rotate-secret").json()
    secrets["next webhook secret"] = rotated["secret"].removeprefix("whsec_")
    sell(service, "ROUTER", 60, available=10, configurable=True)
    placed = buy(customer, [("ROUTER", 1)])
    secrets["password in a configuration"] = ADSL
    path = f"/order/{placed['order_id']}/item/{placed['items'][0]['id']}/configuration"
    body = {"configurations": [{"adsl_username": "line@isp.example", "adsl_password": ADSL}]}
    assert customer.post(path, body).status_code == 200


def plant_sign_in(planted: Planted, site: Site) -> None:
    """Passwords, second factors, session cookies and one-time links."""
    secrets, place = planted.secrets, place_at(site, planted.office)
    secrets["password"] = PASSWORD
    secrets[f"wrong password, {site}"] = f"wrong-password-{site}"
    browser = place.browser()
    place.sign_in(browser, secrets[f"wrong password, {site}"])
    browser = planted.browsers[site] = place.signed_in()
    factor, codes = place.set_up_factor(browser)
    secrets[f"second factor, {site}"] = base64.b32encode(factor).decode()
    secrets |= {f"recovery code {number}, {site}": code for number, code in enumerate(codes)}
    other = place.browser()
    place.sign_in(other)
    code = totp(factor, planted.service)
    other.send(place.path("/sign-in/code"), code=code)
    place.service.clock.advance(timedelta(seconds=30))
    third = place.browser()
    place.sign_in(third)
    third.send(place.path("/sign-in/code"), code=codes[0])
    for number, each in enumerate((browser, other, third)):
        secrets |= {f"cookie {name} {number}, {site}": value for name, value in each.cookies.items() if len(value) > 20}
    place.browser().fill(place.path("/forgotten-password"), email=place.who.email)
    base = {"backoffice_url" if site == "staff" else "base_url": "https://trade.example"}
    for _ in range(2):
        for mail in deliver_mail(planted.service, **base):
            text = mail.get_body(("plain",))
            assert text is not None
            for word in text.get_content().split():
                if "set-password" in word:
                    token = urlsplit(word).query.partition("=")[2] or urlsplit(word).path.rpartition("/")[2]
                    secrets[f"one-time link, {site}"] = token
                    browser.get(f"{urlsplit(word).path}?{urlsplit(word).query}")
    assert len(secrets[f"one-time link, {site}"]) > 20


def plant_addresses(planted: Planted) -> None:
    """Addresses that are secrets themselves: feeds and links to quotes."""
    service, customer = planted.service, planted.consenting.customer
    settings, now = service.settings, service.clock.now()
    service.refresh()
    view = service.application.storefront.last_view(customer.id)
    assert view is not None
    terms = FeedTerms(name="shop", columns="sku\nprice", query="")
    vault = feed_vault(lambda: [settings.secret_key or ""])
    feed = service.in_transaction(lambda tx: add_feed(tx, vault, customer.id, terms, view, now))
    planted.secrets["feed address"] = feed.secret
    assert httpx2.get(f"{service.url}/feed/{feed.secret}.csv", trust_env=False).status_code == 200
    quoted = request_quote(customer)
    price_as_support(service, quoted, ("PHONE", "40"))
    order_id = internal_id(service, quoted)

    async def token(tx: Transaction) -> str | None:
        return await quote_token(tx, order_id, lambda: [secret_key(settings)])

    planted.secrets["quote link"] = service.in_transaction(token) or ""
    address = f"{service.url}/account/quote-link/{planted.secrets['quote link']}"
    assert httpx2.get(address, trust_env=False).status_code == 200


def break_something(planted: Planted) -> None:
    """Let requests with every credential fail, so that errors are logged with their tracebacks."""
    service, secrets = planted.service, planted.secrets
    statuses = set()
    with psycopg.connect(service.database_url, autocommit=True) as connection:
        connection.execute("alter table address rename to mislaid")
        try:
            headers = [{"X-Api-Key": secrets["API key"]}, {"Authorization": f"Bearer {secrets['access token']}"}]
            for each in headers:
                sent = {**each, "X-Forwarded-For": unused_client_address()}
                statuses.add(httpx2.get(f"{service.url}/customer/address", headers=sent, trust_env=False).status_code)
                body = order(billing_address=1)
                httpx2.post(f"{service.url}/order", headers=sent, json=body, trust_env=False)
            statuses.add(planted.browsers["account"].get("/account/address").status_code)
        finally:
            connection.execute("alter table mislaid rename to address")
    assert statuses == {500}


def metrics_of(planted: Planted) -> str:
    """Everything that Prometheus can read."""
    service, backlog = planted.service, Backlog(20)

    async def read() -> None:
        async with reading(service.commands) as tx:
            await backlog.read(tx)

    service.call(read)
    sites = [service.application, planted.office.site.site]
    with metrics_served("127.0.0.1", 0, lambda: combined([*map(site_figures, sites), backlog.figures()])) as url:
        return httpx2.get(url, trust_env=False).text


def test_every_kind_of_secret_was_planted(planted: Planted) -> None:
    assert len(planted.secrets) > 40
    assert all(len(secret) >= 12 for secret in planted.secrets.values())
    for name, secret in planted.secrets.items():
        for spelling in spellings(secret):
            assert planted.found_in(f"before {spelling} after"), name


def test_no_secret_is_in_a_log(planted: Planted) -> None:
    assert planted.found_in(planted.logs) == []
    for logged in ("credential rejected", "unexpected error", "UndefinedTable", "(hidden)", "'event': 'request'"):
        assert logged in planted.logs


def test_no_secret_is_in_a_trace(planted: Planted) -> None:
    assert planted.found_in(planted.spans) == []
    for traced in ("/feed/{secret}.csv", "/oauth/token", "/sign-in", "insert into", "UndefinedTable"):
        assert traced in planted.spans


def test_no_secret_is_in_a_metric(planted: Planted) -> None:
    assert planted.found_in(planted.metrics) == []
    assert 'route="/oauth/token"' in planted.metrics


def test_no_secret_is_in_the_database(planted: Planted) -> None:
    command = [str(programs() / "pg_dump"), "--data-only", "--dbname", planted.service.database_url]
    dumped = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert planted.consenting.owner.email in dumped
    assert planted.found_in(dumped) == []


def test_no_response_shows_a_secret_again(planted: Planted) -> None:
    """What a person may see again on a page of its own, a feed's address and a configuration, is left out."""
    staff = planted.office.client(planted.secrets["service token"])
    seen: dict[str, Any] = {}
    for path in ("/api/webhook", "/api/customer", "/api/audit", "/api/event", "/api/job", "/api/order", "/api/quote"):
        seen[path] = staff.get(path)
    for path in ("/", "/webhook", "/audit", "/customer", "/job", "/order", "/sign-ins"):
        seen[f"office {path}"] = planted.browsers["staff"].get(path)
    for path in ("", "/user", "/developer", "/developer/application", "/developer/webhook", "/sign-ins", "/order"):
        seen[f"account {path}"] = planted.browsers["account"].get(f"/account{path}")
    for path in ("/customer", "/event", "/product", "/openapi.json", "/docs"):
        seen[path] = planted.consenting.customer.get(path)
    assert {name: response.status_code for name, response in seen.items() if response.status_code != 200} == {}
    hidden = {name: planted.found_in(f"{response.text}{response.headers}") for name, response in seen.items()}
    assert {name: found for name, found in hidden.items() if found} == {}
