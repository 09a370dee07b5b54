"""The developers' pages: keys, applications with access, and how to call the API."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import httpx2
import psycopg
import pytest

from support.consent import Consenting, running_consent
from support.orders import rows
from support.pages import Person, code_of, customer_user, fields_of, text_of
from support.samples import PROGRAMS, missing_programs, run_samples
from support.service import Customer, Service
from support.waiting import wait_for
from support.web_page import plain

HOME = "/account/developer"
SENT = {"once": ""}  # a form without fields
LANGUAGES = [language for language in PROGRAMS if language not in missing_programs()]


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def dev(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id, "developer")


def make_key(dev: Person, name: str = "ERP") -> tuple[str, httpx2.Response]:
    """A new key, and the page that shows it."""
    fields = fields_of(dev.get(f"{HOME}/key/new")) | {"name": name}
    page = dev.send(f"{HOME}/key/new", fields)
    assert page.status_code == 200, page.text
    return code_of(page, "key"), page


def test_a_new_key_is_shown_once_and_works(shop: Service, dev: Person) -> None:
    key, page = make_key(dev, "ERP of the warehouse")
    assert len(key) == 64
    assert page.headers["Cache-Control"] == "no-store"
    assert httpx2.get(f"{shop.url}/customer", headers={"X-Api-Key": key}).status_code == 200
    listed = dev.get(HOME)
    assert "ERP of the warehouse" in text_of(listed)
    assert f"{key[:8]}…" in text_of(listed)
    assert key not in listed.text
    [(kind, name)] = rows(
        shop, "select actor_kind, actor_name from audit_entry where action = 'key.create' and after ->> 'prefix' = %s",
        key[:8],
    )  # fmt: skip
    assert (kind, name) == ("user", dev.email)


def test_a_form_that_is_sent_twice_makes_one_key_and_shows_it_once(shop: Service, dev: Person) -> None:
    fields = fields_of(dev.get(f"{HOME}/key/new")) | {"name": "Sent twice"}
    key = code_of(dev.send(f"{HOME}/key/new", fields), "key")
    page = dev.sends(f"{HOME}/key/new", fields)
    assert "shown only once" in text_of(page)
    assert key not in page.text
    assert rows(shop, "select count(*) from api_key where name = 'Sent twice'") == [(1,)]


def test_a_form_that_is_sent_again_meanwhile_and_then_once_more_makes_one_key(shop: Service, dev: Person) -> None:
    fields = fields_of(dev.get(f"{HOME}/key/new")) | {"name": "Sent meanwhile"}
    with psycopg.connect(shop.database_url) as database, ThreadPoolExecutor() as threads:
        database.execute("lock table api_key in exclusive mode")
        first = threads.submit(dev.send, f"{HOME}/key/new", fields)
        wait_for(lambda: rows(shop, "select from pg_locks where relation = 'api_key'::regclass and not granted"))
        page = dev.send(f"{HOME}/key/new", fields)
        assert (page.status_code, "still being worked on" in text_of(page)) == (409, True)
        database.rollback()
        assert len(code_of(first.result(), "key")) == 64
    assert "shown only once" in text_of(dev.sends(f"{HOME}/key/new", fields_of(page)))
    assert rows(shop, "select count(*) from api_key where name = 'Sent meanwhile'") == [(1,)]


def test_a_key_without_a_name_is_rejected_beside_the_field(dev: Person) -> None:
    page = dev.send(f"{HOME}/key/new", {"name": " "})
    assert page.status_code == 400
    assert 'aria-describedby="form-name-hint form-name-error"' in page.text


def test_a_key_is_made_with_limits(shop: Service, dev: Person) -> None:
    fields = fields_of(dev.get(f"{HOME}/key/new"))
    assert fields["scopes"] == ["read", "order", "account"]
    limits = {"scopes": ["read"], "last_day": "2031-06-16", "networks": "203.0.113.0/24\n192.0.2.1"}
    key = code_of(dev.send(f"{HOME}/key/new", fields | {"name": "Stock sheet"} | limits), "key")
    [(scopes, expires_at, networks)] = rows(
        shop, "select scopes, expires_at, networks from api_key where prefix = %s", key[:8]
    )
    assert (scopes, networks) == (["read"], ["203.0.113.0/24", "192.0.2.1/32"])
    assert expires_at.isoformat() == "2031-06-16T23:00:00+00:00", "the end of the last day in the UK"
    assert "read from 203.0.113.0/24, 192.0.2.1/32 until 16 Jun 2031, 23:59" in text_of(dev.get(HOME))
    client = shop.client(**{"X-Api-Key": key, "X-Forwarded-For": "203.0.113.5"})
    assert (client.get("/category").status_code, client.get("/customer").status_code) == (200, 403)


@pytest.mark.parametrize(
    ("name", "value"),
    [("scopes", ""), ("last_day", "2020-01-01"), ("last_day", "9999-12-31"), ("networks", "203.0.113.0/24\nmine")],
)
def test_a_limit_that_is_not_valid_is_rejected_beside_the_field(dev: Person, name: str, value: str) -> None:
    fields = fields_of(dev.get(f"{HOME}/key/new")) | {"name": "ERP", name: value}
    page = dev.send(f"{HOME}/key/new", fields)
    assert page.status_code == 400
    assert f'href="#form-{name}"' in page.text


def test_an_expired_key_is_shown_as_one(shop: Service, dev: Person) -> None:
    fields = fields_of(dev.get(f"{HOME}/key/new")) | {"name": "Short", "last_day": "2031-06-16"}
    key = code_of(dev.send(f"{HOME}/key/new", fields), "key")
    rows(shop, "update api_key set expires_at = now() - interval '20 years' where prefix = %s returning id", key[:8])
    assert "Everything expired" in text_of(dev.get(HOME))


def test_a_disabled_key_is_rejected_and_others_go_on(shop: Service, dev: Person) -> None:
    old, _ = make_key(dev, "Old")
    new, _ = make_key(dev, "New")
    [(key_id,)] = rows(shop, "select id from api_key where prefix = %s", old[:8])
    assert "Old" in text_of(dev.get(f"{HOME}/key/{key_id}/disable"))
    page = dev.sends(f"{HOME}/key/{key_id}/disable", SENT)
    assert "The key Old is disabled." in text_of(page)
    assert "disabled key" in text_of(page)
    shop.refresh()
    assert shop.client(**{"X-Api-Key": old}).get("/customer").status_code == 401
    assert shop.client(**{"X-Api-Key": new}).get("/customer").status_code == 200


def test_another_customers_key_is_not_found(shop: Service, dev: Person) -> None:
    other = shop.customer()
    [(key_id,)] = rows(shop, "select id from api_key where customer_id = %s", other.id)
    assert dev.get(f"{HOME}/key/{key_id}/disable").status_code == 404
    assert dev.send(f"{HOME}/key/{key_id}/disable", SENT).status_code == 404
    assert other.get("/customer").status_code == 200


def test_markup_in_a_name_is_escaped(dev: Person) -> None:
    make_key(dev, "<b>bold</b>")
    assert "&lt;b&gt;bold" in dev.get(HOME).text


@pytest.mark.parametrize("role", ["buyer", "accounts"])
def test_other_roles_see_nothing_of_it(shop: Service, customer: Customer, role: str) -> None:
    person = customer_user(shop, customer.id, role)  # type: ignore[arg-type]
    assert "Developers" not in text_of(person.get("/account"))
    for path in ("", "/call", "/key/new", "/application", "/webhook", "/webhook/new", "/feed", "/feed/new"):
        assert person.get(HOME + path).status_code == 403
    for path in ("/key/new", "/key/1/disable", "/application/x/revoke", "/webhook/new", "/webhook/1/ping", "/feed/new"):
        assert person.send(HOME + path, {"name": "x"}).status_code == 403


def test_owners_may_do_it_too(shop: Service, customer: Customer) -> None:
    owner = customer_user(shop, customer.id, "owner")
    assert "Developers" in text_of(owner.get("/account"))
    assert owner.get(HOME).status_code == 200


def test_secrets_are_shown_only_to_who_has_just_given_the_password(shop: Service, customer: Customer) -> None:
    person = customer_user(shop, customer.id, "developer")
    shop.clock.advance(timedelta(minutes=11))
    for path in ("/key/new", "/webhook/new"):
        asked = person.get(HOME + path)
        assert asked.status_code == 303
        assert asked.headers["Location"].startswith("/account/sign-in/again?next=")
        assert person.send(HOME + path, {"name": "x"}).status_code == 303
    assert person.get(HOME).status_code == 200


def test_a_page_of_a_new_customer_says_what_to_do_next(shop: Service) -> None:
    customer = shop.customer()
    rows(shop, "delete from api_key where customer_id = %s returning id", customer.id)
    person = customer_user(shop, customer.id, "developer")
    assert "Make your first key" in text_of(person.get(HOME))
    assert "No application has access" in text_of(person.get(f"{HOME}/application"))
    assert "Add a webhook" in text_of(person.get(f"{HOME}/webhook"))
    assert "Make your first feed" in text_of(person.get(f"{HOME}/feed"))


def test_the_samples_name_this_services_address_and_no_key(shop: Service, dev: Person) -> None:
    key, made = make_key(dev)
    page = dev.get(f"{HOME}/call")
    for title in ("curl", "Python", "JavaScript", "PHP", "Power Query", "Google Sheets"):
        assert title in text_of(page)
        assert title in text_of(made)
    assert plain(page.text).count(f'{shop.url}"') >= 2
    assert f"{shop.url}/product?inStock=true" in plain(page.text)
    assert "api.example" not in page.text
    assert key not in page.text
    assert "YOUR_KEY" in page.text
    assert "YOUR_KEY" not in made.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sample_works_unchanged(dev: Person, tmp_path: Path, language: str) -> None:
    key, _ = make_key(dev)
    page = dev.get(f"{HOME}/call")
    section = re.search(rf"<h2>{language}</h2>.*?<code>(.*?)</code>", page.text, re.DOTALL)
    assert section is not None
    outcome = run_samples(language, {"sample": plain(section[1])}, tmp_path, {"KEY": key})["sample"]
    assert outcome.status == 0, outcome.text
    assert "sku" in outcome.text


@pytest.fixture(scope="module")
def consenting(database_url: str) -> Iterator[Consenting]:
    with running_consent(database_url) as running:
        yield running


def test_an_application_with_access_is_listed_and_revoked(consenting: Consenting) -> None:
    service = consenting.service
    application = consenting.register("https://erp.example/callback", name="<Sage>")
    given = consenting.given(application)
    dev = customer_user(service, consenting.customer.id, "developer")
    page = dev.get(f"{HOME}/application")
    assert "&lt;Sage&gt;" in page.text
    assert consenting.owner.email in page.text
    path = f"{HOME}/application/{application.client_id}/revoke"
    stranger = customer_user(service, service.customer().id, "developer")
    assert stranger.get(path).status_code == 404
    assert stranger.send(path, SENT).status_code == 404
    assert "tokens end within five seconds" in text_of(dev.get(path))
    page = dev.sends(path, SENT)
    assert "The access is revoked." in text_of(page)
    assert "Sage" not in page.text
    assert dev.send(path, SENT).status_code == 404
    assert consenting.refresh(given["refresh_token"], application).status_code == 400
