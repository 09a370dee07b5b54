"""Browsers keep no session that comes over plain HTTP: the forms that lead to one say so."""

from collections.abc import Iterator

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.orders import rows
from support.pages import browser, text_of
from support.people import invitation_of_member
from support.service import Service, running_service

NOTICE = "This page came over plain HTTP, and browsers keep no session from there: you cannot sign in."


@pytest.fixture(scope="module")
def secured(database_url: str) -> Iterator[Service]:
    """A service whose address is https://shop.example."""
    with running_service(database_url, base_url="https://shop.example") as service:
        yield service


@pytest.fixture(scope="module")
def unnamed(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as office:
        yield office


def shown(url: str, path: str, host: str, **headers: str) -> str:
    with browser(url) as client:
        return text_of(client.get(path, headers={"Host": host, **headers}))


@pytest.mark.parametrize("host", ["shop.example", "10.0.0.5:8000", "app1.internal", "[2001:db8::1]:8001"])
def test_on_a_real_name_the_form_says_that_nobody_can_sign_in(unnamed: BackOfficeSite, host: str) -> None:
    said = f"{NOTICE} Whoever runs this site has to set up HTTPS."
    assert said in shown(unnamed.url, "/sign-in", host)
    assert said in shown(unnamed.service.url, "/account/sign-in", host)
    token = invitation_of_member(
        unnamed.service, f"new{len(rows(unnamed.service, 'select from staff_member'))}@reseller.example"
    )
    assert said in shown(unnamed.url, f"/set-password?token={token}", host)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:8001"])
def test_on_this_machine_browsers_keep_sessions(unnamed: BackOfficeSite, host: str) -> None:
    assert NOTICE not in shown(unnamed.url, "/sign-in", host)
    assert NOTICE not in shown(unnamed.service.url, "/account/sign-in", host)


def test_behind_a_proxy_that_ends_tls_there_is_no_such_notice(secured: Service, unnamed: BackOfficeSite) -> None:
    assert NOTICE not in shown(secured.url, "/account/sign-in", "shop.example")
    headers = {"Sec-Fetch-Site": "none"}  # which browsers send over protected connections alone
    assert NOTICE not in shown(unnamed.url, "/sign-in", "shop.example", **headers)


def test_the_notice_leads_to_the_right_address(secured: Service) -> None:
    said = shown(secured.url, "/account/sign-in", "10.0.0.5:8000")
    assert f"{NOTICE} Open https://shop.example instead." in said
