"""Owners get an e-mail when their account gets a new owner, key, webhook or application."""

import re
from collections.abc import Iterator
from email.message import EmailMessage

import pytest

from support.consent import running_consent
from support.mail import deliver_mail, forget_jobs, html, plain
from support.orders import rows
from support.pages import Person, code_of, customer_user, fields_of
from support.service import Customer, Service

KEYS, HOOKS, USERS = "/account/developer", "/account/developer/webhook", "/account/user"


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def owner(shop: Service, customer: Customer) -> Iterator[Person]:
    yield customer_user(shop, customer.id, "owner")
    forget_jobs(shop)


def facts(mail: EmailMessage) -> dict[str, str]:
    """The lines of a mail that say what was added, by whom and when."""
    lines = [re.split(r" {2,}", line, maxsplit=1) for line in plain(mail).splitlines()]
    return {found[0]: found[1] for found in lines if len(found) == 2 and found[0]}


def told(service: Service, subject: str) -> list[EmailMessage]:
    """The mails with a subject, after all due jobs."""
    return [mail for mail in deliver_mail(service) if mail["Subject"] == subject]


def test_all_owners_are_told_of_a_new_owner(shop: Service, owner: Person) -> None:
    forget_jobs(shop)
    owner.sends(f"{USERS}/invite", {"email": "second@shop.example", "roles": "owner"})
    [mail] = told(shop, "Your account has a new owner")
    assert {owner.email, "second@shop.example"} <= set(str(mail["To"]).split(", "))
    assert facts(mail)["Owner"] == "second@shop.example"
    assert facts(mail)["Added by"] == owner.email
    assert "disable the user here" in plain(mail)
    assert f"{USERS}\n" in plain(mail)
    assert "second@shop.example" in html(mail)


def test_owners_are_told_when_a_role_becomes_owner_and_not_of_other_roles(shop: Service, owner: Person) -> None:
    forget_jobs(shop)
    owner.sends(f"{USERS}/invite", {"email": "buyer@shop.example", "roles": "buyer"})
    assert told(shop, "Your account has a new owner") == []
    [(user_id,)] = rows(shop, "select id from customer_user where email = 'buyer@shop.example'")
    owner.sends(f"{USERS}/{user_id}/role", {"roles": "owner"})
    [mail] = told(shop, "Your account has a new owner")
    assert facts(mail)["Owner"] == "buyer@shop.example"
    owner.sends(f"{USERS}/{user_id}/role", {"roles": "developer"})
    assert told(shop, "Your account has a new owner") == []


def test_owners_are_told_of_a_new_key_without_the_key(shop: Service, customer: Customer, owner: Person) -> None:
    forget_jobs(shop)
    dev = customer_user(shop, customer.id, "developer")
    path = f"{KEYS}/key/new"
    key = code_of(dev.send(path, fields_of(dev.get(path)) | {"name": "ERP <i>"}), "key")
    [mail] = told(shop, "Your account has a new API key")
    assert owner.email in str(mail["To"])
    assert dev.email not in str(mail["To"])
    assert facts(mail)["Key"] == "ERP <i>"
    assert facts(mail)["Scopes"] == "read, order, account"
    assert "can order for your account" in plain(mail)
    assert all(len(line) < 79 for line in plain(mail).splitlines())
    assert facts(mail)["Added by"] == dev.email
    assert "<i>" not in html(mail)
    assert key not in plain(mail) + html(mail)


def test_owners_are_told_what_a_key_with_scopes_may_do(shop: Service, owner: Person) -> None:
    forget_jobs(shop)
    path = f"{KEYS}/key/new"
    owner.send(path, fields_of(owner.get(path)) | {"name": "Stock sheet", "scopes": ["read"]})
    [mail] = told(shop, "Your account has a new API key")
    assert facts(mail)["Scopes"] == "read"
    assert "can order" not in plain(mail)


def test_owners_are_told_of_a_new_webhook(shop: Service, owner: Person) -> None:
    forget_jobs(shop)
    url = "https://hooks.shop.example/orders"
    path = f"{HOOKS}/new"
    assert owner.send(path, fields_of(owner.get(path)) | {"url": url}).status_code == 200
    [mail] = told(shop, "Your account has a new webhook")
    assert facts(mail)["Address"] == url
    assert "delete the webhook here" in plain(mail)


def test_owners_are_told_of_a_new_application_once(database_url: str) -> None:
    with running_consent(database_url) as site:
        forget_jobs(site.service)
        site.given()
        [mail] = told(site.service, "An application may act for your account")
        assert facts(mail)["Application"] == "ERP"
        assert site.owner.email in str(mail["To"])
        site.given()
        assert told(site.service, "An application may act for your account") == []
