"""Registers and disables OAuth applications with their redirect URIs, and revokes their tokens for a customer."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from tradecounter.audit.record import audit, audit_edit
from tradecounter.db.transaction import Transaction
from tradecounter.identity.oauth.queries.access_tokens import GivenAccess, access_given, revoke_tokens
from tradecounter.identity.oauth.queries.applications import (
    ApplicationRecord,
    NewApplication,
    add_application,
    change_application,
    disable_application,
    lock_application,
)
from tradecounter.kit.errors import invalid, or_not_found, require_text
from tradecounter.kit.setting_rules import is_safe_url
from tradecounter.kit.text import LONGEST_NAME

MOST_REDIRECT_URIS = 20
_LONGEST_URI = 2000
_UNSAFE = "must start with https:// and a host; http:// is allowed for this machine only"
# Only characters that need no escape in a Location header, and none that ends a directive of a content policy.
_SAFE_URI = re.compile(
    r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::[0-9]{1,5})?(?:[/?][A-Za-z0-9._~%!$&'()*+,=:@/?-]*)?"
)
_WEB_URI = re.compile("https?://[^/?]")
_DOT_SEGMENT = re.compile(r"/\.{1,2}(?:[/?]|\Z)")


def check_redirect_uris(uris: Sequence[str]) -> None:
    """Check the redirect URIs of an application. Raises DomainError (invalid)."""
    if len(uris) > MOST_REDIRECT_URIS:
        raise invalid("redirect_uri", f"there must be at most {MOST_REDIRECT_URIS}")
    for uri in uris:
        problem = _uri_problem(uri)
        if problem is not None:
            raise invalid("redirect_uri", f"{uri[:200]!r} {problem}")


def origin_of(uri: str) -> str:
    """Return a redirect URI's scheme, host and port, as a source of a content policy names them."""
    parts = urlsplit(uri)
    # A policy cannot name an IPv6 address.
    return f"{parts.scheme}:" if "[" in parts.netloc else f"{parts.scheme}://{parts.netloc}"


def _uri_problem(uri: str) -> str | None:
    if "#" in uri:
        return "must have no fragment"
    if not _WEB_URI.match(uri):
        return _UNSAFE
    if len(uri) > _LONGEST_URI or not _SAFE_URI.fullmatch(uri):
        return "must be a plain URL with its host in lower case, without a user name, spaces and special characters"
    if not is_safe_url(uri):
        return _UNSAFE
    if _DOT_SEGMENT.search(uri.partition("?")[0]):
        return "must have no . or .. in its path"
    return None


async def register_application(
    tx: Transaction, name: str, now: datetime, redirect_uris: Sequence[str] = ()
) -> NewApplication:
    """Register an application. Raises DomainError (invalid)."""
    name = require_text("name", name, LONGEST_NAME)
    check_redirect_uris(redirect_uris)
    new = await add_application(tx, name, now, redirect_uris)
    after = {"name": name, **({"redirect_uris": list(redirect_uris)} if redirect_uris else {})}
    audit(tx, "application.create", f"application/{new.client_id}", now, after=after)
    return new


async def edit_application(
    tx: Transaction, client_id: str, now: datetime, name: str | None = None, redirect_uris: Sequence[str] | None = None
) -> ApplicationRecord:
    """Change an application's name, or replace its redirect URIs. Raises DomainError: not found, invalid."""
    check_redirect_uris(redirect_uris or ())
    before = await lock_application(tx, client_id)
    uris = before.redirect_uris if redirect_uris is None else list(redirect_uris)
    chosen = before.name if name is None else require_text("name", name, LONGEST_NAME)
    after = replace(before, name=chosen, redirect_uris=uris)
    await change_application(tx, client_id, after.name, after.redirect_uris)
    audit_edit(tx, "application.edit", f"application/{client_id}", now, before=_shown(before), after=_shown(after))
    return after


def _shown(application: ApplicationRecord) -> dict[str, Any]:
    return {"name": application.name, "redirect_uris": application.redirect_uris}


async def end_application(tx: Transaction, client_id: str, now: datetime) -> None:
    """Disable an application and its tokens, in every process within a few seconds. Raises DomainError (not found)."""
    disabled_at = or_not_found(await disable_application(tx, client_id, now), "application", client_id)
    if disabled_at == now:
        audit(tx, "application.disable", f"application/{client_id}", now, after={"disabled": True})


async def revoke_access(tx: Transaction, client_id: str, customer_id: int, now: datetime) -> int:
    """Revoke an application's tokens and consent for a customer; return the number of tokens."""
    count = await revoke_tokens(tx, client_id, customer_id, now)
    after = {"customer_id": customer_id, "tokens": count}
    audit(tx, "application.revoke", f"application/{client_id}", now, after=after)
    return count


async def fetch_access(tx: Transaction, customer_id: int, client_id: str, now: datetime) -> GivenAccess:
    """Return the access that an application has to a customer's account. Raises DomainError (not found)."""
    match = next((given for given in await access_given(tx, customer_id, now) if given.client_id == client_id), None)
    return or_not_found(match, "application", client_id)


async def revoke_given_access(tx: Transaction, customer_id: int, client_id: str, now: datetime) -> int:
    """Revoke the access that an application has to a customer's account. Raises DomainError (not found)."""
    await fetch_access(tx, customer_id, client_id, now)
    return await revoke_access(tx, client_id, customer_id, now)
