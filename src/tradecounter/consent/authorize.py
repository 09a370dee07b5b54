"""Reads authorisation requests, asks a user, issues codes (RFC 6749, RFC 9207); deletes old grants, codes and keys."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Literal
from urllib.parse import urlencode

from msgspec import Struct

from tradecounter.audit.record import audit
from tradecounter.consent.queries import (
    delete_old_grants,
    delete_old_keys,
    insert_consent,
    insert_grant,
    lock_standing_consent,
)
from tradecounter.consent.rules import CODE_LIFETIME, KEPT_FOR, KEY_PUBLIC_FOR, is_challenge
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser
from tradecounter.edge.permissions import CONSENT_GIVERS
from tradecounter.edge.rest.parameters import form_decoded
from tradecounter.identity.oauth.queries.applications import find_application
from tradecounter.kit.errors import DomainError, Kind

AuthorizationErrorCode = Literal[
    "invalid_request", "unsupported_response_type", "access_denied", "login_required", "consent_required",
    "invalid_target", "invalid_scope",
]  # fmt: skip

FIELDS = (
    "response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method", "prompt",
    "response_mode", "resource", "scope",
)  # fmt: skip
_NAMING = ("client_id", "redirect_uri")  # the fields that say where a browser may be sent
_MOST_FIELDS = 100
_LONGEST_STATE = 2000


class AuthorizationError(Exception):
    """An error that the application is told, at its redirect URI."""

    def __init__(self, code: AuthorizationErrorCode, description: str | None = None) -> None:
        super().__init__(code)
        self.code: AuthorizationErrorCode = code
        self.description = description


class Fields(Struct, frozen=True):
    """The fields of a request as sent, and the names of those that are repeated; a field without a value is absent."""

    values: Mapping[str, str]
    repeated: frozenset[str]

    @classmethod
    def read(cls, raw: bytes) -> "Fields":
        """Parse a query or a form. Raises DomainError (invalid)."""
        parts = [part.partition(b"=") for part in raw.split(b"&", _MOST_FIELDS)[:_MOST_FIELDS] if part]
        pairs = [(form_decoded(name), form_decoded(value)) for name, _, value in parts]
        given = [(name, value) for name, value in pairs if value]
        counted = Counter(name for name, _ in pairs)
        return cls(dict(given), frozenset(name for name, count in counted.items() if count > 1))

    def known(self) -> dict[str, str]:
        """Return the fields that this service knows, in the order in which they are documented."""
        return {name: self.values[name] for name in FIELDS if name in self.values}


class Application(Struct, frozen=True):
    """An application and where this request's response goes, both checked."""

    client_id: str
    name: str
    redirect_uri: str
    state: str | None

    def address(self, issuer: str, **parameters: str | None) -> str:
        """Return the redirect URI with a response's parameters, the request's state and the issuer's name."""
        given = {**parameters, "state": self.state, "iss": issuer}
        query = urlencode({name: value for name, value in given.items() if value is not None})
        return f"{self.redirect_uri}{'&' if '?' in self.redirect_uri else '?'}{query}"

    def error_address(self, issuer: str, error: AuthorizationError) -> str:
        """Return the redirect URI with an error."""
        return self.address(issuer, error=error.code, error_description=error.description)


class AuthorizationRequest(Struct, frozen=True):
    """A valid request for a code: the application, its PKCE challenge, and what it asks of the prompt."""

    application: Application
    code_challenge: str
    prompt: str | None


async def fetch_target(tx: Transaction, fields: Fields) -> Application:
    """Return the application of a request.

    Raises DomainError (invalid), which is shown to the person: a browser is sent only to a registered address of a
    known application, which is compared character by character.
    """
    client_id = named_client(fields)
    record = await find_application(tx, client_id)
    if record is None or record.disabled_at is not None:
        raise DomainError(Kind.INVALID, "this application is not registered here, or is disabled (client_id)")
    return target_of(client_id, record.name, fields, lambda uri: uri in record.redirect_uris)


def named_client(fields: Fields) -> str:
    """Return the client id of a request. Raises DomainError (invalid)."""
    if fields.repeated.intersection(_NAMING):
        raise DomainError(Kind.INVALID, "the application gave its client_id or redirect_uri more than once")
    client_id = fields.values.get("client_id")
    if client_id is None:
        raise DomainError(Kind.INVALID, "the application did not say which one it is: client_id is required")
    return client_id


def target_of(client_id: str, name: str, fields: Fields, is_registered: Callable[[str], bool]) -> Application:
    """Return where the response to a request goes. Raises DomainError (invalid)."""
    redirect_uri = fields.values.get("redirect_uri")
    if redirect_uri is None:
        raise DomainError(Kind.INVALID, "the application did not say where you return to: redirect_uri is required")
    if not is_registered(redirect_uri):
        raise DomainError(
            Kind.INVALID, "the application has not registered the address to which you would return (redirect_uri)"
        )
    state = None if "state" in fields.repeated else fields.values.get("state")
    return Application(client_id, name, redirect_uri, state)


def read_request(application: Application, fields: Fields) -> AuthorizationRequest:
    """Return a request of an application. Raises AuthorizationError."""
    values = fields.values
    if repeated := sorted(fields.repeated.intersection(FIELDS)):
        raise _invalid(f"{repeated[0]}: is given more than once")
    if "response_type" not in values:
        raise _invalid("response_type: is required")
    if values["response_type"] != "code":
        raise AuthorizationError("unsupported_response_type", "response_type: must be code")
    if values.get("response_mode", "query") != "query":
        raise _invalid("response_mode: must be query")
    if len(values.get("state", "")) > _LONGEST_STATE:
        raise _invalid(f"state: must have at most {_LONGEST_STATE} characters")
    if values.get("code_challenge_method") != "S256":
        raise _invalid("code_challenge_method: must be S256")
    challenge = values.get("code_challenge", "")
    if not is_challenge(challenge):
        raise _invalid("code_challenge: must be the SHA-256 hash of the verifier, as base64url without padding")
    prompt = values.get("prompt")
    if prompt not in {None, "none", "consent"}:
        raise _invalid("prompt: must be none or consent, or absent")
    return AuthorizationRequest(application, challenge, prompt)


def require_resource(fields: Fields, resource: str) -> None:
    """Check what a code is asked for (RFC 8707). Raises AuthorizationError (invalid_target)."""
    if fields.values.get("resource", resource).rstrip("/") != resource:
        raise AuthorizationError("invalid_target", f"resource: must be {resource}")


def _invalid(description: str) -> AuthorizationError:
    return AuthorizationError("invalid_request", description)


async def start(tx: Transaction, request: AuthorizationRequest, user: CustomerUser | None, now: datetime) -> str | None:
    """Return a code if the user's customer consents already; None if the person has to be asked, or to sign in.

    Raises AuthorizationError instead of None when the application wants no page (`prompt=none`).
    """
    if user is None:
        refusal = AuthorizationError("login_required")
    elif not user.has_role(*CONSENT_GIVERS):
        refusal = _denied()
    else:
        if request.prompt != "consent":
            consent_id = await lock_standing_consent(tx, request.application.client_id, user.customer_id)
            if consent_id is not None:
                return await _code(tx, request, consent_id, now)
        refusal = AuthorizationError("consent_required")
    if request.prompt == "none":
        raise refusal
    return None


async def allow(tx: Transaction, request: AuthorizationRequest, user: CustomerUser, now: datetime) -> str:
    """Record the consent of a user's customer, and return a code. Raises AuthorizationError (access_denied)."""
    if not user.has_role(*CONSENT_GIVERS):
        raise _denied()
    client_id = request.application.client_id
    customer_id = user.customer_id
    consent_id = await insert_consent(tx, client_id, customer_id, user.id, now)
    if consent_id is not None:
        audit(tx, "consent.give", f"application/{client_id}", now, after={"customer_id": customer_id})
        queue(tx, "mail_application_allowed", consent_id=consent_id)
    else:
        consent_id = await lock_standing_consent(tx, client_id, customer_id)
    if consent_id is None:  # revoked at this moment
        raise _denied()
    return await _code(tx, request, consent_id, now)


async def _code(tx: Transaction, request: AuthorizationRequest, consent_id: int, now: datetime) -> str:
    redirect_uri = request.application.redirect_uri
    return await insert_grant(tx, consent_id, request.code_challenge, redirect_uri, now, now + CODE_LIFETIME)


def _denied() -> AuthorizationError:
    return AuthorizationError("access_denied", "only an owner or a developer of the account can allow this")


async def clean_up_consent(tx: Transaction, now: datetime) -> int:
    """Delete old keys, refresh tokens, codes and grants; return how many."""
    return await delete_old_keys(tx, now - KEY_PUBLIC_FOR) + await delete_old_grants(tx, now, now - KEPT_FOR)
