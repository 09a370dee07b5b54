"""Reads the settings; no other module reads the environment or the `.env` file."""

import os
import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from datetime import timedelta
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import msgspec
from dotenv import dotenv_values

from tradecounter.kit import setting_rules as rules
from tradecounter.kit.errors import OperatorError
from tradecounter.kit.numbers import UnreadableNumberError, read_count, read_decimal
from tradecounter.kit.setting_rules import Rule, at_most, comma_separated, url_of

PREFIX = "TRADECOUNTER_"
FILE = ".env"  # in the working directory

_SHORT_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smhd]?)")
_UNITS = {"d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1), "s": timedelta(seconds=1)}
_ISO_DURATION = {"": "PT{}S", "s": "PT{}S", "m": "PT{}M", "h": "PT{}H", "d": "P{}D"}
_WANTED: dict[Any, str] = {
    int: "a whole number",
    bool: "true or false",
    Decimal: "a number",
    timedelta: "a duration such as 24h, 7d, 90m, 30s or P1DT12H (ISO 8601); a number alone is seconds",
}
_WANTED[timedelta | None] = _WANTED[timedelta]
_DURATIONS = (timedelta, timedelta | None)
_PATHS = (Path, Path | None)
_OF_THE_SANDBOX = ("sandbox_url", "sandbox_backoffice_url", "sandbox_token")  # what the live site needs of it
_FIVE_MINUTES = at_most(timedelta(minutes=5), "five minutes")  # also the maximum age of prices and stock (section 8)


class SettingsError(OperatorError):
    """A setting has an invalid value; the message names it."""


def _setting(default: Any, meaning: str, rule: Rule | None = None, *, secret: bool = False) -> Any:
    return field(default=default, metadata={"meaning": meaning, "rule": rule, "secret": secret})


def _flag(meaning: str) -> Any:
    return _setting(default=False, meaning=meaning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings, with their defaults."""

    database_url: str | None = _setting(
        None,
        "The PostgreSQL database, as a postgresql:// URL; unset: the embedded one in DATA_DIR.",
        rules.DATABASE_URL,
        secret=True,
    )
    replica_url: str | None = _setting(
        None,
        "A read replica of the database, as a postgresql:// URL, from which large catalogues are read while it has "
        "all changes; unset: the database.",
        rules.DATABASE_URL,
        secret=True,
    )
    data_dir: Path = _setting(Path(".tradecounter"), "The folder of the embedded database and other files.")
    base_url: str | None = _setting(
        None,
        "The API's public URL, used in links; unset: the host of each request.",
        url_of("http", "https"),
    )
    backoffice_url: str | None = _setting(
        None,
        "The address of the back office, used in links; unset: the address of each request.",
        url_of("http", "https"),
    )
    backoffice_networks: str | None = _setting(
        None, "Addresses and networks, comma-separated, that may reach the back office; unset: all.", rules.NETWORKS
    )
    staff_totp_required: bool = _flag(
        "Require a second factor of every staff member, who sets it up at the next sign-in."
    )
    auth_url: str | None = _setting(
        None,
        "The login service at which customers consent to applications; unset: this service's own, at BASE_URL/auth.",
        rules.HTTPS_URL,
    )
    secret_key: str | None = _setting(
        None,
        "At least 32 characters from which other secrets are derived; unset with the embedded database: "
        "generated once and kept in DATA_DIR.",
        rules.SECRET,
        secret=True,
    )
    former_secret_keys: str | None = _setting(
        None,
        "Earlier values of SECRET_KEY, comma-separated: they decrypt until `secret rotate` re-encrypts the data.",
        rules.SECRETS,
        secret=True,
    )
    pending_order_lifetime: timedelta = _setting(
        timedelta(hours=24), "How long a pending order can be confirmed.", rules.LIFETIME
    )
    quote_lifetime: timedelta = _setting(timedelta(days=7), "How long a priced quote can be confirmed.", rules.LIFETIME)
    max_pending_orders: rules.Positive = _setting(1000, "The maximum number of pending orders of a customer.")
    max_unpriced_quotes: rules.Positive = _setting(100, "The maximum number of unpriced quotes of a customer.")
    keep_expired_orders: timedelta | None = _setting(
        None, "How long expired orders and quotes are kept; unset: for ever.", rules.LIFETIME
    )
    keep_deleted_addresses: timedelta | None = _setting(
        None, "How long deleted addresses are kept; unset: for ever.", rules.LIFETIME
    )
    keep_idempotent_responses: timedelta | None = _setting(
        None,
        "How long idempotency keys and their responses are kept; a request repeated later is executed again; "
        "unset: for ever.",
        rules.LIFETIME,
    )
    keep_changes: timedelta = _setting(
        timedelta(days=7),
        "How long a cursor of the change feed is valid; a client that was away longer reads the catalogue again.",
        rules.LIFETIME,
    )
    vat_rate: Decimal = _setting(Decimal(20), "VAT in per cent on deliveries within GB and IM.", rules.PER_CENT)
    low_stock: rules.Count = _setting(5, "Fewer units than this in stock show as 'Low stock'.")
    own_brand_prefix: rules.ReferencePrefix = _setting(
        "ORD-", "Prefix of order references for customers with own-brand packing."
    )
    plain_prefix: rules.ReferencePrefix = _setting(
        "PLN-", "Prefix of order references for customers with plain packing."
    )
    seller_name: str = _setting("Example Reseller Ltd", "The seller's name on invoices and in e-mails.")
    seller_address: str = _setting(
        "1 Example Street, London, EC1A 1AA, United Kingdom",
        "The seller's address on invoices; commas separate its lines.",
    )
    seller_vat_number: str = _setting("GB000000000", "The seller's VAT number on invoices and in e-mails.")
    seller_email: str | None = _setting(
        None,
        "The seller's e-mail address on invoices and in e-mails; unset: SUPPORT_EMAIL in e-mails.",
        rules.MAILBOX,
    )
    seller_phone: str | None = _setting(None, "The seller's phone number on invoices and in e-mails.")
    seller_company_number: str | None = _setting(
        None, "The seller's company registration number on invoices and in e-mails."
    )
    seller_registered_office: str | None = _setting(
        None, "The address of the seller's registered office on invoices and in e-mails."
    )
    seller_bank: str | None = _setting(None, "The bank details on invoices; | separates the lines.")
    seller_logo: Path | None = _setting(
        None, "A PNG or JPEG file of at most 256 KiB, shown on invoices and in e-mails instead of the seller's name."
    )
    invoice_each_dispatch: bool = _flag(
        "Invoice each shipment when it is dispatched, instead of whole orders with `order invoice`."
    )
    reminder_days: str | None = _setting(
        None,
        "Days past the due date, comma-separated such as 7,14,30, at which customers are reminded of unpaid invoices; "
        "unset: never.",
        rules.DAYS,
    )
    smtp_url: str | None = _setting(
        None,
        "The mail server, with user and password where needed: smtps:// (TLS), smtp:// (STARTTLS, required unless the "
        "server is on this machine and needs no password) or smtp+plain:// (no TLS); unset: e-mails are files "
        "in DATA_DIR/mail.",
        url_of("smtp", "smtps", "smtp+plain"),
        secret=True,
    )
    mail_from: str = _setting("Tradecounter <tradecounter@localhost>", "The sender of e-mails.", rules.MAILBOX)
    support_email: str = _setting("support@localhost", "The address that receives requests for quotes.", rules.MAILBOX)
    security_contact: str | None = _setting(
        None,
        "Whom to tell of a vulnerability of the installation, an e-mail address or an https:// URL, for security.txt; "
        "unset: there is none.",
        rules.CONTACT,
    )
    webhook_networks: str | None = _setting(
        None,
        "Addresses and networks, comma-separated, at which webhooks may be although they are not public.",
        rules.NETWORKS,
    )
    webhook_http: bool = _flag("Let webhooks be at http:// addresses, where others can read and change what is sent.")
    rate_limit: rules.Count = _setting(
        3000,
        "Requests of a customer in five minutes, new orders and quotes not counted; a long response counts once for "
        "every 500 results; 0: no limit.",
    )
    access_token_lifetime: timedelta = _setting(
        timedelta(hours=1), "How long an access token is valid.", rules.TOKEN_LIFETIME
    )
    trusted_proxies: str | None = _setting(
        None,
        "Addresses and networks, comma-separated, whose X-Forwarded-For header is trusted to name the client.",
        rules.NETWORKS,
    )
    cors_origins: str | None = _setting(
        None,
        "Origins, comma-separated, whose pages may call the API from a browser; *: any; unset: none.",
        rules.ORIGINS,
    )
    max_body_bytes: rules.Positive = _setting(1024 * 1024, "The largest accepted request body, in bytes.")
    refresh_interval: timedelta = _setting(
        timedelta(seconds=1), "How often a process checks for changed prices, stock, products and keys.", _FIVE_MINUTES
    )
    stale_after: timedelta = _setting(
        timedelta(seconds=60),
        "How long a process shows prices and stock that it cannot verify; after that, product reads, orders and "
        "quotes get 503. At most five minutes.",
        _FIVE_MINUTES,
    )
    database_connections: rules.Connections = _setting(
        10, "The maximum number of database connections of one process for requests; one more polls for changes."
    )
    commit_timeout: timedelta = _setting(
        timedelta(seconds=10),
        "How long a request waits for the confirmation of its commit, also by a replica; then it gets 503, and the "
        "change may have been carried out.",
        _FIVE_MINUTES,
    )
    max_connections: rules.Positive = _setting(
        4096,
        "The maximum number of client connections of one process, which accepts fewer if it cannot open enough files.",
    )
    max_connections_per_address: rules.Positive = _setting(
        1000,
        "The maximum number of client connections of one process from one address, at most a quarter of all where the "
        "process cannot open enough files; trusted proxies are exempt.",
    )
    answer_memory: rules.NotNegative = _setting(
        256 * 1024 * 1024,
        "The maximum size, in bytes, of one process's cached responses and their requests; 0: no cache.",
    )
    snapshot_dir: Path | None = _setting(
        None,
        "The folder in which the processes of a machine share a large catalogue; unset: the user's own in "
        "XDG_RUNTIME_DIR or among the temporary files.",
    )
    sandbox: bool = _flag(
        "Whether this is a sandbox, in whose own database orders live by themselves and nothing is dispatched."
    )
    sandbox_pace: timedelta = _setting(
        timedelta(minutes=1), "In a sandbox: the time from one step of an order to the next.", rules.LIFETIME
    )
    sandbox_source: str | None = _setting(
        None,
        "In a sandbox: the live database (postgresql://) whose products, prices, stock and terms come every night.",
        rules.DATABASE_URL,
        secret=True,
    )
    sandbox_mail: str | None = _setting(
        None,
        "In a sandbox: the e-mail addresses, comma-separated, that get e-mails; all others are files in DATA_DIR/mail.",
    )
    sandbox_url: str | None = _setting(
        None, "The public URL of the sandbox, which the Developers page names to customers.", url_of("http", "https")
    )
    sandbox_backoffice_url: str | None = _setting(
        None,
        "The address of the sandbox's back office, where the Developers page makes and disables keys.",
        url_of("http", "https"),
    )
    sandbox_token: str | None = _setting(
        None, "A service token of the sandbox's back office with the scope customers:write.", secret=True
    )
    log_requests: bool = _flag(
        "Log every request with its customer and address, not only failures of the service (5xx)."
    )

    @property
    def embedded(self) -> bool:
        """Whether the embedded PostgreSQL is used."""
        return self.database_url is None


def _parse(setting: Field[Any], text: str) -> Any:
    name, annotation, rule = PREFIX + setting.name.upper(), setting.type, setting.metadata["rule"]
    if annotation in _PATHS:
        return Path(text).expanduser()
    plain, *bounds = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    try:
        value = _read(plain, text if rule is None else rule.clean(text))
    except (msgspec.ValidationError, OverflowError, UnreadableNumberError) as error:
        raise SettingsError(f"{name}: {text!r} is not {_WANTED[plain]}") from error
    try:
        return msgspec.convert(value, annotation) if bounds else value
    except msgspec.ValidationError as error:
        raise SettingsError(f"{name}: {bounds[0].description}") from error


def _read(plain: Any, text: str) -> Any:
    if plain is int:
        return read_count(text, signed=True)
    if plain is Decimal:
        return read_decimal(text, signed=True)
    short = _SHORT_DURATION.fullmatch(text) if plain in _DURATIONS else None
    return msgspec.convert(text if short is None else _ISO_DURATION[short[2]].format(short[1]), plain, strict=False)


def _checked(settings: Settings) -> Settings:
    for setting in fields(Settings):
        value, rule = getattr(settings, setting.name), setting.metadata["rule"]
        if rule is not None and value is not None and not rule.accepts(value):
            raise SettingsError(f"{PREFIX}{setting.name.upper()}: {rule.wanted}")
    if len({getattr(settings, name) is None for name in _OF_THE_SANDBOX}) > 1:
        first, second, third = (PREFIX + name.upper() for name in _OF_THE_SANDBOX)
        raise SettingsError(f"{first}: must be set together with {second} and {third}, or none of them")
    if settings.stale_after <= settings.refresh_interval:
        raise SettingsError(f"{PREFIX}STALE_AFTER: must be longer than {PREFIX}REFRESH_INTERVAL")
    return settings


def former_secrets(settings: Settings) -> list[str]:
    """Return the secret key's earlier values, in the setting's order."""
    return comma_separated(settings.former_secret_keys)


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings from the environment, which overrides `.env` in the working directory.

    An empty variable counts as unset. Raises SettingsError for an invalid value.
    """
    if environment is None:
        environment = _environment()
    values = {
        setting.name: _parse(setting, text)
        for setting in fields(Settings)
        if (text := environment.get(PREFIX + setting.name.upper(), "").strip())
    }
    return _checked(Settings(**values))


def unknown_settings(environment: Mapping[str, str] | None = None) -> list[tuple[str, str | None]]:
    """Return unknown variables with the settings' prefix and the most similar setting of each. Raises SettingsError."""
    known = [setting.name.upper() for setting in fields(Settings)]
    given = _environment() if environment is None else environment
    unknown = sorted({name.removeprefix(PREFIX) for name in given if name.startswith(PREFIX)}.difference(known))
    nearest = {name: get_close_matches(name, known, n=1) for name in unknown}
    return [(PREFIX + name, PREFIX + found[0] if found else None) for name, found in nearest.items()]


def _environment() -> dict[str, str]:
    return {**values_in(Path(FILE)), **os.environ}


def runtime_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the program's place in the user's runtime folder (`XDG_RUNTIME_DIR`); None without a runtime folder."""
    folder = Path(environment.get("XDG_RUNTIME_DIR", "").strip())
    return folder / "tradecounter" if folder.is_absolute() else None


def traces_exporter(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return where traces go by OpenTelemetry's own variables, such as `otlp`; None if they do not ask for traces."""
    named = environment.get("OTEL_TRACES_EXPORTER", "").strip()
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" or named == "none":
        return None
    endpoints = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    return named or ("otlp" if any(environment.get(name, "").strip() for name in endpoints) else None)


def values_in(path: Path) -> dict[str, str]:
    """Return the variables in a file; empty if the file does not exist. Raises SettingsError."""
    try:
        return {name: value for name, value in dotenv_values(path).items() if value is not None}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error


def describe(settings: Settings) -> list[dict[str, str | None]]:
    """Return each setting's variable, value (as in the variable; secrets are hidden) and description."""
    rows: list[dict[str, str | None]] = []
    for setting in fields(Settings):
        value = getattr(settings, setting.name)
        shown = None if value is None else "(hidden)" if setting.metadata["secret"] else _text_of(value)
        name = PREFIX + setting.name.upper()
        rows.append({"name": name, "value": shown, "meaning": setting.metadata["meaning"]})
    return rows


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _short_duration(value) if isinstance(value, timedelta) else str(value)


def _short_duration(duration: timedelta) -> str:
    """Return a duration as a whole number of the largest possible unit, or in seconds with decimals."""
    for unit, length in _UNITS.items():
        count, rest = divmod(duration, length)
        if not rest:
            return f"{count}{unit}"
    return f"{Decimal(duration // timedelta(microseconds=1)).scaleb(-6).normalize():f}s"
