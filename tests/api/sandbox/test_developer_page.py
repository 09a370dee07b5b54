"""The live site's Developers page makes and disables keys of the sandbox, over HTTP."""

import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from structlog.testing import capture_logs

from support.cluster import Cluster
from support.orders import rows
from support.pages import customer_user, fields_of, text_of
from support.sandbox_pair import LIST, SandboxPair, sandbox_pair
from support.service import Service, running_service


@pytest.fixture
def pair(postgres: Cluster) -> Iterator[SandboxPair]:
    with sandbox_pair(postgres) as found:
        yield found


def test_a_key_is_made_works_in_the_sandbox_alone_and_is_disabled(pair: SandboxPair) -> None:
    pair.refresh()
    assert "Make your first key" in text_of(pair.dev.get(LIST))
    page = pair.dev.send(f"{LIST}/key/new", {"name": "My shop"})
    found = re.search(r'<code id="key">(sbx_[0-9a-f]{60})</code>', page.text)
    assert found is not None, text_of(page)
    headers = {"X-Api-Key": found[1]}
    pair.sandbox.refresh()
    assert pair.sandbox.client(**headers).get("/customer").json()["last_name"] == str(pair.customer.id)
    assert httpx2.get(f"{pair.live.url}/customer", headers=headers).status_code == 401
    listed = pair.dev.get(LIST)
    assert "My shop" in text_of(listed)
    disable = re.search(rf'href="({LIST}/key/\d+/disable)"', listed.text)
    assert disable is not None
    pair.dev.sends(disable[1], {"once": ""})
    pair.sandbox.refresh()
    assert pair.sandbox.client(**headers).get("/customer").status_code == 401
    assert "My shop" not in text_of(pair.dev.get(LIST))


@pytest.mark.sweep
def test_a_form_that_is_sent_twice_makes_one_key(pair: SandboxPair) -> None:
    pair.refresh()
    form = fields_of(pair.dev.get(f"{LIST}/key/new")) | {"name": "Twice"}
    assert "sbx_" in pair.dev.send(f"{LIST}/key/new", form).text
    assert "made already" in text_of(pair.dev.sends(f"{LIST}/key/new", form))
    assert rows(pair.sandbox, "select count(*) from api_key where name = 'Twice'") == [(1,)]


@pytest.mark.sweep
def test_the_sandbox_is_told_who_makes_a_key_in_any_script(pair: SandboxPair) -> None:
    pair.refresh()
    rows(pair.live, "update customer_user set email = 'jösé@shop.example' where id = %s returning id", pair.dev.id)
    page = pair.dev.send(f"{LIST}/key/new", {"name": "My shop"})
    assert "sbx_" in page.text, text_of(page)
    told = rows(pair.sandbox, "select acting_user from audit_entry where action = 'key.create'")
    assert told == [("jösé@shop.example",)]


@pytest.mark.sweep
def test_no_transaction_is_open_while_the_sandbox_is_asked(postgres: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, postgres.database() as url:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        settings: dict[str, Any] = {"sandbox_url": address, "sandbox_backoffice_url": address, "sandbox_token": "t"}
        with running_service(url, **settings) as live, ThreadPoolExecutor() as pool:
            dev = customer_user(live, live.customer().id, "developer")
            sent = pool.submit(dev.send, f"{LIST}/key/new", {"name": "My shop"})
            connection, _ = silent.accept()
            connection.recv(1)
            open_now = "select count(*) from pg_stat_activity where datname = current_database() and xact_start < now()"
            assert rows(live, open_now) == [(0,)]
            connection.close()
            assert sent.result(timeout=30).status_code == 409


def test_who_is_not_known_there_yet_and_a_sandbox_that_is_away_are_said(pair: SandboxPair) -> None:
    assert "does not know your account yet" in text_of(pair.dev.get(LIST))
    sent = pair.dev.send(f"{LIST}/key/new", {"name": "My shop"})
    assert (sent.status_code, "does not know your account yet" in text_of(sent)) == (409, True)
    asked = pair.dev.get(f"{LIST}/key/9/disable")
    assert (asked.status_code, "does not know your account yet" in text_of(asked)) == (409, True)
    other = customer_user(pair.live, pair.customer.id, "buyer")
    assert other.get(LIST).status_code == 403


def test_operators_read_why_the_sandbox_rejects_the_live_site(pair: SandboxPair) -> None:
    pair.refresh()
    rows(pair.sandbox, "update service_token set revoked_at = now() returning id")
    with capture_logs() as logs:
        assert "cannot be reached now" in text_of(pair.dev.get(LIST))
    [reason] = [entry["reason"] for entry in logs if entry["event"].startswith("keys of the sandbox")]
    assert reason.startswith("status 401, "), reason


def test_without_a_sandbox_the_page_says_so(shop: Service) -> None:
    dev = customer_user(shop, shop.customer().id, "developer")
    assert "no sandbox" in text_of(dev.get(LIST))
    assert LIST not in dev.get("/account/developer").text
    assert dev.send(f"{LIST}/key/new", {"name": "My shop"}).status_code == 404
