"""Who has no session is sent to the sign-in page; without a cookie, that costs the database nothing."""

import asyncio

import pytest
from starlette.requests import Request

from tradecounter.db.pool import Database
from tradecounter.edge.pages.page_site import ACCOUNT
from tradecounter.edge.rest.operation import Operation, Success
from tradecounter.edge.session import ElsewhereError
from tradecounter.kit.clock import SystemClock
from tradecounter.sites.session_gate import SessionGate


def test_who_has_no_cookie_is_sent_to_sign_in_without_the_database() -> None:
    async def admit() -> None:
        gate = SessionGate(ACCOUNT, Database("postgresql://nowhere.example/none"), SystemClock(), None)
        scope = {"type": "http", "method": "GET", "path": "/account/order", "query_string": b"", "headers": []}
        shown = Operation(method="GET", path="/account/order", name="x", tag="x", summary="", success=Success(200, ""))
        await gate.admit(Request(scope), shown)

    with pytest.raises(ElsewhereError):
        asyncio.run(admit())
