"""Adds and revokes service tokens."""

from collections.abc import Sequence
from datetime import datetime

from tradecounter.access.queries.tokens import TokenRecord, insert_token, set_revoked
from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.edge.permissions import SCOPES
from tradecounter.identity.credentials import PREFIX_LENGTH, new_secret, secret_hash
from tradecounter.kit.errors import invalid, or_not_found, require_text
from tradecounter.kit.text import LONGEST_NAME


async def add_token(
    tx: Transaction,
    name: str,
    scopes: Sequence[str],
    now: datetime,
    expires_at: datetime | None = None,
    *,
    token: str | None = None,
) -> tuple[TokenRecord, str]:
    """Add a service token, and return it with its secret; a given `token` may exist (for reproducible demos).

    Raises DomainError (invalid).
    """
    name = require_text("name", name, LONGEST_NAME)
    if not scopes or not set(scopes) <= set(SCOPES):
        raise invalid("scopes", f"must be some of {', '.join(SCOPES)}")
    if expires_at is not None and expires_at <= now:
        raise invalid("expires", "must be in the future")
    chosen = [scope for scope in SCOPES if scope in scopes]
    token = token or new_secret()
    added = await insert_token(tx, name, token[:PREFIX_LENGTH], secret_hash(token), chosen, now, expires_at)
    after = {"name": added.name, "prefix": added.prefix, "scopes": added.scopes, "expires_at": added.expires_at}
    audit(tx, "token.create", f"token/{added.id}", now, after=after)
    return added, token


async def revoke_token(tx: Transaction, token_id: int, now: datetime) -> TokenRecord:
    """Revoke a service token immediately; a revoked one stays as it is. Raises DomainError (not found)."""
    revoked = or_not_found(await set_revoked(tx, token_id, now), "token", token_id)
    if revoked.revoked_at == now:
        audit(tx, "token.revoke", f"token/{token_id}", now)
    return revoked
