"""Requests with the same token or session do not wait for each other's record of its use."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import LiteralString

import psycopg

from support.backoffice import backoffice_of
from support.people import staff_member
from support.service import Service
from tradecounter.access.queries.tokens import list_tokens


@contextmanager
def locked(service: Service, statement: LiteralString) -> Iterator[None]:
    with psycopg.connect(service.database_url) as database:
        assert database.execute(statement).rowcount == 1
        yield
        database.rollback()


def test_a_request_is_served_while_another_records_the_use_of_its_token(shop: Service) -> None:
    with backoffice_of(shop) as office:
        client = office.caller()
        with locked(
            shop, "update service_token set last_used_at = now() where id = (select max(id) from service_token)"
        ):
            assert client.get("/api/job").status_code == 200
        assert shop.in_transaction(list_tokens)[-1].last_used_at is None
        assert client.get("/api/job").status_code == 200
        assert shop.in_transaction(list_tokens)[-1].last_used_at == shop.clock.now()


def test_a_session_is_found_while_another_request_records_its_use(own_service: Service) -> None:
    who = staff_member(own_service)
    cookie = who.sign_in().cookie
    own_service.clock.advance(timedelta(minutes=2))
    with locked(own_service, "update session set seen_at = now() where id = (select max(id) from session)"):
        found = who.session(cookie)
    assert found is not None
    assert found.seen_at == found.created_at
