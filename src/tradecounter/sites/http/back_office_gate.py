"""Admits requests to the back office: a service token with the operation's scope."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from tradecounter.access.queries.tokens import TokenRecord, find_token, record_use
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.edge.operations.desk import ACTING_USER, LONGEST_ACTING_USER
from tradecounter.edge.permissions import includes
from tradecounter.edge.rest.operation import Operation
from tradecounter.edge.server.client_address import Network
from tradecounter.edge.session import SCOPES, missing_scope
from tradecounter.identity.admission import Admission, Sender, sender_of
from tradecounter.identity.credentials import (
    BearerToken,
    ExpiredCredentialError,
    InvalidCredentialError,
    MissingCredentialError,
)
from tradecounter.kit.actor import Actor
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.text import one_line
from tradecounter.sites.http.resource import Gate

_ACTOR = "tradecounter.actor"  # the key in the ASGI scope
_USE_RECORDED_EVERY = timedelta(minutes=1)


class StaffGate(Struct, Gate, frozen=True):
    """Admits requests with a service token, which is looked up each time: a revoked one ends at once."""

    admission: Admission
    database: Database
    clock: Clock

    async def admit(self, request: Request, operation: Operation) -> None:
        """Check the address, the token and its scope. Raises DomainError.

        An expired token is an invalid credential, but does not count towards a block.
        """
        sender = sender_of(request.scope)
        self.admission.check_address(sender)
        token = await self._token(sender)
        bind_contextvars(token=token.id)  # in all log lines of the request
        if not any(includes(token.scopes, scope) for scope in (operation.scope, *operation.other_scopes)):
            raise missing_scope(operation.scope)
        request.scope[SCOPES] = token.scopes
        request.scope[_ACTOR] = Actor(
            kind="token", name=token.name, id=token.id, acting_user=_acting_user(request), address=sender.address
        )

    async def check_again(self, request: Request) -> None:
        """Check that the token of a request has not ended. Raises InvalidCredentialError."""
        credential = sender_of(request.scope).credential
        async with reading(self.database) as tx:
            token = await find_token(tx, credential.hash) if isinstance(credential, BearerToken) else None
        if token is None:
            raise InvalidCredentialError
        _require_unexpired(token, self.clock.now())

    def actor_of(self, scope: Scope) -> Actor:
        """Return the token of an admitted request, with the person for whom its program acts."""
        actor: Actor = scope[_ACTOR]
        return actor

    async def _token(self, sender: Sender) -> TokenRecord:
        credential = sender.credential
        if isinstance(credential, MissingCredentialError):
            raise credential
        token = None
        if isinstance(credential, BearerToken):
            now = self.clock.now()
            async with transaction(self.database) as tx:
                token = await find_token(tx, credential.hash)
                if token is not None and (token.last_used_at is None or token.last_used_at < now - _USE_RECORDED_EVERY):
                    await record_use(tx, token.id, now)
            if token is not None:
                _require_unexpired(token, now)
        if token is None:
            await self.admission.record_failure(sender, prefix=getattr(credential, "prefix", None))
            raise InvalidCredentialError
        return token


def _require_unexpired(token: TokenRecord, now: datetime) -> None:
    if token.expires_at is not None and token.expires_at <= now:
        raise ExpiredCredentialError


def _acting_user(request: Request) -> str | None:
    """Return the person whom a program names. Raises DomainError (invalid)."""
    given = request.headers.get(ACTING_USER, "")
    try:
        name = one_line(given.encode("latin-1").decode())
    except UnicodeDecodeError as error:
        raise invalid(ACTING_USER, "must be UTF-8") from error
    if len(name) > LONGEST_ACTING_USER:
        raise invalid(ACTING_USER, f"must have at most {LONGEST_ACTING_USER} characters")
    return name or None


class AllowedNetworks:
    """Middleware that rejects requests from other addresses; without networks, it admits all."""

    def __init__(self, app: ASGIApp, networks: Sequence[Network], admission: Admission) -> None:
        self._app = app
        self._networks = networks
        self._addresses = admission.addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. Raises DomainError (forbidden)."""
        if scope["type"] == "http" and self._networks:
            sender = sender_of(scope)
            client = self._addresses.client(sender.peer, sender.hops)
            if client is None or not any(client in network for network in self._networks):
                raise DomainError(Kind.FORBIDDEN, "your address may not reach the back office")
        await self._app(scope, receive, send)
