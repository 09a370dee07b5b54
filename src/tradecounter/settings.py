"""Settings: the only reader of the environment and of the `.env` file."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from decimal import Decimal
from email.utils import parseaddr
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from dotenv import dotenv_values

from tradecounter.kit.errors import OperatorError
from tradecounter.kit.money import rounded

PREFIX = "TRADECOUNTER_"

_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")
_WANTED = {
    int: "a whole number",
    bool: "true or false",
    Decimal: "a number",
    timedelta: "an ISO 8601 duration in days, hours, minutes and seconds, such as P1DT12H, or a number of seconds",
}
_LONGEST_LIFETIME = timedelta(days=3650)
_LONGEST_REFRESH = timedelta(minutes=5)  # prices and stock are never staler (specification, section 8)


# A digit at the end would let two orders' references be the same: P1 with 23 and P with 123.
_REFERENCE_PREFIX = re.compile(r"[A-Za-z]([A-Za-z0-9._-]{0,18}[A-Za-z._-])?")
_ORIGIN = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_MAILBOX = re.compile(r"[^@\s]+@[^@\s]+")
_PREFIX_WANTED = (
    "must start with a letter, end with none of the digits, and hold at most 20 letters, digits, dots, dashes and "
    "underscores"
)


class SettingsError(OperatorError):
    """A setting has a value that cannot be used; the message names it."""


def _setting(default: Any, meaning: str, *, secret: bool = False) -> Any:
    return field(default=default, metadata={"meaning": meaning, "secret": secret})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be configured, with its default; durations are ISO 8601 or seconds."""

    database_url: str | None = _setting(
        None,
        "The PostgreSQL to use, as a postgresql:// URL; unset: the embedded one in DATA_DIR.",
        secret=True,
    )
    data_dir: Path = _setting(Path(".tradecounter"), "Where the embedded database and other files live.")
    base_url: str | None = _setting(
        None, "The public address of the API, used in links; unset: the address of each request."
    )
    auth_url: str | None = _setting(
        None, "The issuer of customers' consent to applications; unset: no subject token is accepted."
    )
    secret_key: str | None = _setting(
        None,
        "At least 32 characters from which other secrets are derived; unset with the embedded database: "
        "made once and kept in DATA_DIR.",
        secret=True,
    )
    pending_order_lifetime: timedelta = _setting(timedelta(hours=24), "How long a pending order can be confirmed.")
    quote_lifetime: timedelta = _setting(timedelta(days=7), "How long a quote can be confirmed once it is priced.")
    vat_rate: Decimal = _setting(Decimal(20), "VAT in per cent on deliveries within GB and IM.")
    low_stock: int = _setting(5, "Fewer units than this in stock show as 'Low stock'.")
    own_brand_prefix: str = _setting("ORD-", "Prefix of order references of customers with own-brand packing.")
    plain_prefix: str = _setting("PLN-", "Prefix of order references of customers with plain packing.")
    seller_name: str = _setting("Example Reseller Ltd", "The seller's name on invoices and in mails.")
    seller_address: str = _setting(
        "1 Example Street, London, EC1A 1AA, United Kingdom", "The seller's address on invoices; commas part its lines."
    )
    seller_vat_number: str = _setting("GB000000000", "The seller's VAT number on invoices.")
    smtp_url: str | None = _setting(
        None,
        "The mail server, as smtp:// (STARTTLS where offered) or smtps://, with user and password where needed; "
        "unset: mails are files in DATA_DIR/mail.",
        secret=True,
    )
    mail_from: str = _setting("Tradecounter <tradecounter@localhost>", "The sender of mails.")
    support_email: str = _setting("support@localhost", "Where requests for quotes go.")
    rate_limit: int = _setting(
        3000, "Requests of a customer in five minutes, new orders and quotes apart; 0: no limit."
    )
    access_token_lifetime: timedelta = _setting(timedelta(hours=1), "How long an access token is good.")
    trusted_proxies: str | None = _setting(
        None, "Addresses and networks, comma-separated, whose X-Forwarded-For names the client."
    )
    cors_origins: str | None = _setting(
        None,
        "Origins, comma-separated, whose pages may call the API from a browser; *: any; unset: none.",
    )
    max_body_bytes: int = _setting(1024 * 1024, "Longest request body accepted, in bytes.")
    refresh_interval: timedelta = _setting(
        timedelta(seconds=1), "How often a process looks for changed prices, stock, products and keys."
    )
    database_connections: int = _setting(10, "Most database connections of one process.")
    answer_memory: int = _setting(
        256 * 1024 * 1024,
        "Most bytes that a process keeps of answers, to give them again while they are current; 0: none.",
    )
    log_requests: bool = _setting(
        False,  # noqa: FBT003 a setting's default is a value, not a call's flag
        "Log every request, not only those that the service fails at (5xx); then none is answered from memory.",
    )

    @property
    def embedded(self) -> bool:
        """Whether the embedded PostgreSQL is used."""
        return self.database_url is None


def _parse(name: str, annotation: Any, text: str) -> Any:
    if annotation is Path:
        return Path(text).expanduser()
    is_seconds = annotation is timedelta and _SECONDS.fullmatch(text)
    try:
        return msgspec.convert(f"PT{text}S" if is_seconds else text, annotation, strict=False)
    except (msgspec.ValidationError, OverflowError) as error:
        raise SettingsError(f"{PREFIX}{name.upper()}: {text!r} is not {_WANTED[annotation]}") from error


def _checked(settings: Settings) -> Settings:
    conditions = {
        "DATABASE_URL": (_is_url(settings.database_url, "postgresql", "postgres"), "must be a postgresql:// URL"),
        "BASE_URL": (_is_url(settings.base_url, "http", "https"), "must start with http:// or https:// and a host"),
        "SECRET_KEY": (_is_long_enough(settings.secret_key), "must have at least 32 characters"),
        "PENDING_ORDER_LIFETIME": (
            timedelta(0) < settings.pending_order_lifetime <= _LONGEST_LIFETIME,
            "must be longer than nothing and at most ten years",
        ),
        "AUTH_URL": (
            settings.auth_url is None or is_safe_url(settings.auth_url),
            "must start with https:// and a host; http:// will do on this machine only",
        ),
        "QUOTE_LIFETIME": (
            timedelta(0) < settings.quote_lifetime <= _LONGEST_LIFETIME,
            "must be longer than nothing and at most ten years",
        ),
        "SMTP_URL": (_is_url(settings.smtp_url, "smtp", "smtps"), "must start with smtp:// or smtps:// and a host"),
        "MAIL_FROM": (_is_mailbox(settings.mail_from), "must be an e-mail address, with a name before it or not"),
        "SUPPORT_EMAIL": (_is_mailbox(settings.support_email), "must be an e-mail address"),
        "RATE_LIMIT": (0 <= settings.rate_limit <= 1_000_000_000, "must be between 0 and 1000000000"),  # noqa: PLR2004 named in the message
        "ACCESS_TOKEN_LIFETIME": (
            timedelta(seconds=1) <= settings.access_token_lifetime <= _LONGEST_LIFETIME,
            "must be at least a second and at most ten years",
        ),
        "TRUSTED_PROXIES": (_are_networks(settings.trusted_proxies), "must be addresses or networks, comma-separated"),
        "CORS_ORIGINS": (
            _are_origins(settings.cors_origins),
            "must be * or origins such as https://shop.example, comma-separated, without a path",
        ),
        "VAT_RATE": (
            _is_per_cent(settings.vat_rate),
            "must be between 0 and 100 per cent, with at most two decimal places",
        ),
        "LOW_STOCK": (0 <= settings.low_stock <= 1_000_000_000, "must be between 0 and 1000000000"),  # noqa: PLR2004 named in the message
        "OWN_BRAND_PREFIX": (_is_prefix(settings.own_brand_prefix), _PREFIX_WANTED),
        "PLAIN_PREFIX": (_is_prefix(settings.plain_prefix), _PREFIX_WANTED),
        "MAX_BODY_BYTES": (settings.max_body_bytes >= 1, "must be at least 1"),
        "ANSWER_MEMORY": (settings.answer_memory >= 0, "must be at least 0"),
        "REFRESH_INTERVAL": (
            timedelta(0) < settings.refresh_interval <= _LONGEST_REFRESH,
            "must be longer than nothing and at most five minutes",
        ),
        "DATABASE_CONNECTIONS": (1 <= settings.database_connections <= 1000, "must be between 1 and 1000"),  # noqa: PLR2004 named in the message
    }
    for name, (holds, problem) in conditions.items():
        if not holds:
            raise SettingsError(f"{PREFIX}{name}: {problem}")
    return settings


def _is_url(text: str | None, *schemes: str) -> bool:
    if text is None:
        return True
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in schemes and (bool(parts.hostname) or "postgres" in schemes)


def is_safe_url(text: str) -> bool:
    """Tell whether what a URL leads to can be believed: it is https, or plain http that does not leave this machine."""
    if not _is_url(text, "http", "https"):
        return False
    parts = urlsplit(text)
    try:
        _ = parts.port
    except ValueError:  # it is none
        return False
    return parts.scheme == "https" or _is_loopback(parts.hostname or "")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_mailbox(text: str) -> bool:
    return text.isprintable() and _MAILBOX.fullmatch(parseaddr(text)[1]) is not None


def _are_networks(text: str | None) -> bool:
    try:
        return all(ip_network(part.strip(), strict=False) for part in (text or "").split(",") if part.strip())
    except ValueError:
        return False


def _are_origins(text: str | None) -> bool:
    origins = [part.strip() for part in (text or "").split(",") if part.strip()]
    return origins == ["*"] or all(_ORIGIN.fullmatch(origin) for origin in origins)


def _is_per_cent(rate: Decimal) -> bool:
    # Orders keep two decimal places: with more, an order's lines and its shipping would be taxed at different rates.
    return rate.is_finite() and 0 <= rate <= 100 and rate == rounded(rate)  # noqa: PLR2004 per cent


def _is_prefix(text: str) -> bool:
    return _REFERENCE_PREFIX.fullmatch(text) is not None


def _is_long_enough(secret: str | None) -> bool:
    return secret is None or len(secret) >= 32  # noqa: PLR2004 named in the message


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings from the environment, and where it is silent from `.env` in the working directory.

    An empty variable counts as unset. Raises SettingsError for a value that cannot be used.
    """
    if environment is None:
        environment = {**_from_file(Path(".env")), **os.environ}
    values = {
        setting.name: _parse(setting.name, setting.type, text)
        for setting in fields(Settings)
        if (text := environment.get(PREFIX + setting.name.upper(), "").strip())
    }
    for address in values.keys() & {"base_url", "auth_url"}:
        values[address] = values[address].rstrip("/")
    return _checked(Settings(**values))


def _from_file(path: Path) -> dict[str, str]:
    try:
        return {name: value for name, value in dotenv_values(path).items() if value is not None}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error


def describe(settings: Settings) -> list[dict[str, str | None]]:
    """Return every setting's variable, value (secrets hidden) and meaning; values are written as they are read."""
    rows: list[dict[str, str | None]] = []
    for setting in fields(Settings):
        value = getattr(settings, setting.name)
        shown = None if value is None else _written(value)
        if shown is not None and setting.metadata["secret"]:
            shown = "(hidden)"
        name = PREFIX + setting.name.upper()
        rows.append({"name": name, "value": shown, "meaning": setting.metadata["meaning"]})
    return rows


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(msgspec.to_builtins(value)) if isinstance(value, timedelta) else str(value)
