"""Sets up, checks and removes second factors: time-based one-time passwords (RFC 6238) and recovery codes."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from urllib.parse import quote, urlencode

from msgspec import Struct

from tradecounter.access.queries.people import lock_password
from tradecounter.access.queries.second_factors import (
    Factor,
    delete_factors,
    find_factor,
    insert_factor,
    lock_sealed_secrets,
    replace_codes,
    replace_sealed_secret,
    set_confirmed,
    use_code,
    use_step,
)
from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Person, Site, site_of, subject_of
from tradecounter.edge.session import Session
from tradecounter.identity.credentials import secret_hash
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.vault import Vault
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.settings import Settings


class SignInPolicy(Struct, frozen=True):
    """Where a second factor is compulsory, the vault with their secrets, and the name that authenticators show."""

    staff_totp_required: bool
    vault: Vault
    issuer: str

    @classmethod
    def from_settings(cls, settings: Settings) -> "SignInPolicy":
        """Read the settings; the secret keys are read at the first use."""
        return cls(settings.staff_totp_required, factor_vault(lambda: secret_keys(settings)), settings.seller_name)

    def requires_factor(self, site: Site) -> bool:
        """Return whether everyone at a site needs a second factor."""
        return site == "staff" and self.staff_totp_required


def factor_vault(keys: Callable[[], Sequence[str]]) -> Vault:
    """Return the vault with the secrets of second factors."""
    return Vault("second factors", keys)


DIGITS = 6
RECOVERY_CODES = 10
_STEP_SECONDS = 30  # of a step
_SECRET_BYTES = 20  # as RFC 4226 recommends
_RECOVERY_BYTES = 16
_GROUP_LENGTH = 5  # characters of a recovery code between hyphens


def in_base32(secret: bytes) -> str:
    """Return a secret as people type it into an authenticator."""
    return base64.b32encode(secret).decode()


def totp_uri(secret: bytes, issuer: str, account: str) -> str:
    """Return the `otpauth:` address that an authenticator scans."""
    plain_issuer = issuer.replace(":", " ")
    label = quote(f"{plain_issuer}:{account}", safe="@")
    parameters = {"secret": in_base32(secret), "issuer": plain_issuer, "digits": DIGITS, "period": _STEP_SECONDS}
    return f"otpauth://totp/{label}?{urlencode(parameters, quote_via=quote)}"


def code_at(secret: bytes, step: int) -> str:
    """Return the code of a step (RFC 4226, section 5.3)."""
    digest = hmac.digest(secret, step.to_bytes(8, "big"), hashlib.sha1)
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def step_of(now: datetime) -> int:
    """Return the number of the step at a moment."""
    return int(now.timestamp()) // _STEP_SECONDS


def matching_step(secret: bytes, code: str, now: datetime, last_step: int) -> int | None:
    """Return the step whose code was given: the current one or a neighbour, and after `last_step`. Otherwise None.

    Tradecounter has no library for this: the step of a code must be known, so that each code is good only once.
    """
    current = step_of(now)
    matches = [s for s in (current - 1, current, current + 1) if hmac.compare_digest(code_at(secret, s), code)]
    return next((step for step in matches if step > last_step), None)


def new_recovery_codes() -> list[str]:
    """Return ten codes of 128 random bits."""
    return [_new_recovery_code() for _ in range(RECOVERY_CODES)]


def recovery_hash(code: str) -> bytes:
    """Return the hash of a recovery code, whose hyphens, spaces and capitals do not matter."""
    return secret_hash("".join(filter(str.isalnum, code.casefold())))


def _new_recovery_code() -> str:
    plain = base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().rstrip("=").lower()
    return "-".join(plain[n : n + _GROUP_LENGTH] for n in range(0, len(plain), _GROUP_LENGTH))


WRONG_CODE = "is wrong, too old or used already"


class NewFactor(Struct, frozen=True):
    """What a person enters into an authenticator: `secret` by hand, or `uri` as a QR code."""

    secret: str
    uri: str


async def has_factor(tx: Transaction, person: Person) -> bool:
    """Return whether a person has a second factor."""
    return await find_factor(tx, site_of(person), person.id) is not None


async def codes_left(tx: Transaction, person: Person) -> int | None:
    """Return how many recovery codes a person has; None without a second factor."""
    factor = await find_factor(tx, site_of(person), person.id)
    return None if factor is None else factor.codes_left


async def begin_factor(tx: Transaction, policy: SignInPolicy, session: Session, now: datetime) -> NewFactor:
    """Begin to set up a second factor; it replaces a former one when its first code is entered.

    Until then, the session shows the same one again.
    """
    person = session.person
    site = site_of(person)
    begun = await _locked_factor(tx, person, confirmed=False)
    secret = None if begun is None or begun.session_id != session.id else policy.vault.unseal(bytes(begun.secret))
    if secret is None:
        secret = secrets.token_bytes(_SECRET_BYTES)
        await delete_factors(tx, site, person.id, confirmed=False)
        await insert_factor(tx, site, person.id, session.id, await policy.vault.seal(tx, secret), now)
    return NewFactor(in_base32(secret), totp_uri(secret, policy.issuer, person.email))


async def enable_factor(tx: Transaction, policy: SignInPolicy, session: Session, code: str, now: datetime) -> list[str]:
    """Enable the second factor that the session began, and return its recovery codes; it replaces a former one.

    Raises DomainError: invalid (the code), conflict (none was begun).
    """
    person = session.person
    begun = await _locked_factor(tx, person, confirmed=False)
    if begun is None or begun.session_id != session.id:
        raise DomainError(Kind.CONFLICT, "the set-up has ended; begin again")
    if not await _is_good_totp(tx, policy.vault, begun, code, now):
        raise invalid("code", WRONG_CODE)
    replaced = await delete_factors(tx, site_of(person), person.id, confirmed=True)
    await set_confirmed(tx, begun.id, now)
    audit(tx, "totp.enable", subject_of(person), now, after={"replaced": bool(replaced)})
    return await _store_new_codes(tx, begun.id)


async def disable_factor(tx: Transaction, policy: SignInPolicy, person: Person, now: datetime) -> None:
    """Remove a person's second factor. Raises DomainError: conflict (it is compulsory), not found."""
    site = site_of(person)
    if policy.requires_factor(site):
        raise DomainError(Kind.CONFLICT, "a second factor is compulsory here; you can replace it")
    if await _locked_factor(tx, person, confirmed=True) is None:
        raise DomainError(Kind.NOT_FOUND, "there is no second factor")
    await delete_factors(tx, site, person.id, confirmed=True)
    audit(tx, "totp.disable", subject_of(person), now)


async def renew_recovery_codes(tx: Transaction, person: Person, now: datetime) -> list[str]:
    """Return new recovery codes, which replace the old ones. Raises DomainError (not found)."""
    factor = await _locked_factor(tx, person, confirmed=True)
    if factor is None:
        raise DomainError(Kind.NOT_FOUND, "there is no second factor")
    audit(tx, "totp.renew_codes", subject_of(person), now)
    return await _store_new_codes(tx, factor.id)


async def use_second_factor(tx: Transaction, policy: SignInPolicy, person: Person, code: str, now: datetime) -> bool:
    """Use up a code of a person's authenticator, or a recovery code; return False for a wrong or used one."""
    factor = await find_factor(tx, site_of(person), person.id)
    if factor is None:
        return False
    if _looks_like_totp(code):
        return await _is_good_totp(tx, policy.vault, factor, code, now)
    used = await use_code(tx, factor.id, recovery_hash(code), now)
    if used:
        audit(tx, "totp.use_recovery_code", subject_of(person), now, after={"codes_left": factor.codes_left - 1})
    return used


async def reseal_factors(tx: Transaction, keys: Sequence[str]) -> None:
    """Re-encrypt all secrets with the first of the keys; one that no key decrypts stays as it is."""
    vault = factor_vault(lambda: keys)
    for factor_id, sealed in await lock_sealed_secrets(tx):
        resealed = vault.reseal(sealed)
        if resealed is not None and resealed != sealed:
            await replace_sealed_secret(tx, factor_id, resealed)


async def _locked_factor(tx: Transaction, person: Person, *, confirmed: bool) -> Factor | None:
    """Return what `find_factor` does; changes of the person's second factor at the same time wait."""
    site = site_of(person)
    await lock_password(tx, site, person.email)
    return await find_factor(tx, site, person.id, confirmed=confirmed)


async def _store_new_codes(tx: Transaction, factor_id: int) -> list[str]:
    codes = new_recovery_codes()
    await replace_codes(tx, factor_id, [recovery_hash(code) for code in codes])
    return codes


async def _is_good_totp(tx: Transaction, vault: Vault, factor: Factor, code: str, now: datetime) -> bool:
    secret = vault.unseal(bytes(factor.secret))
    if secret is None or not _looks_like_totp(code):
        return False
    step = matching_step(secret, _without_blanks(code), now, factor.last_step)
    return step is not None and await use_step(tx, factor.id, step)


def _looks_like_totp(code: str) -> bool:
    plain = _without_blanks(code)
    return len(plain) == DIGITS and plain.isascii() and plain.isdigit()


def _without_blanks(code: str) -> str:
    return "".join(code.split())
