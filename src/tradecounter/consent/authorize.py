"""Decides authorisation requests: asks a customer's user, remembers the consent, issues codes."""

from datetime import datetime
from enum import Enum, auto

from tradecounter.audit.record import audit
from tradecounter.consent.authorization_request import AuthorizationError, AuthorizationRequest
from tradecounter.consent.queries.grants import find_standing_consent, insert_consent, insert_grant
from tradecounter.consent.rules import CODE_LIFETIME, GIVERS
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import CustomerUser


class Page(Enum):
    """What a person has to do before a request can be decided."""

    SIGN_IN = auto()
    CONSENT = auto()
    NO_RIGHT = auto()  # the user's role may not give consent


async def start(tx: Transaction, request: AuthorizationRequest, user: CustomerUser | None, now: datetime) -> str | Page:
    """Return a code if the user's customer consents already; else the page to show.

    Raises AuthorizationError instead of a page when the application wants none (`prompt=none`).
    """
    silent = request.prompt == "none"
    if user is None:
        if silent:
            raise AuthorizationError("login_required")
        return Page.SIGN_IN
    if not user.has_role(*GIVERS):
        if silent:
            raise _denied()
        return Page.NO_RIGHT
    if request.prompt != "consent":
        consent_id = await find_standing_consent(tx, request.application.record.client_id, user.customer_id)
        if consent_id is not None:
            return await _code(tx, request, consent_id, now)
    if silent:
        raise AuthorizationError("consent_required")
    return Page.CONSENT


async def allow(tx: Transaction, request: AuthorizationRequest, user: CustomerUser, now: datetime) -> str:
    """Record the consent of a user's customer, and return a code. Raises AuthorizationError (access_denied)."""
    if not user.has_role(*GIVERS):
        raise _denied()
    client_id = request.application.record.client_id
    customer_id = user.customer_id
    consent_id = await insert_consent(tx, client_id, customer_id, user.id, now)
    if consent_id is not None:
        audit(tx, "consent.give", f"application/{client_id}", now, after={"customer_id": customer_id})
        await queue(tx, "mail_application_allowed", consent_id=consent_id)
    else:
        consent_id = await find_standing_consent(tx, client_id, customer_id)
    if consent_id is None:  # revoked at this moment
        raise _denied()
    return await _code(tx, request, consent_id, now)


async def _code(tx: Transaction, request: AuthorizationRequest, consent_id: int, now: datetime) -> str:
    redirect_uri = request.application.redirect_uri
    return await insert_grant(tx, consent_id, request.code_challenge, redirect_uri, now, now + CODE_LIFETIME)


def _denied() -> AuthorizationError:
    return AuthorizationError("access_denied", "only an owner or a developer of the account can allow this")
