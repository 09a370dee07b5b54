"""Settings: the only reader of the environment and of the `.env` file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
from dotenv import dotenv_values

PREFIX = "TRADECOUNTER_"


class SettingsError(Exception):
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
    secret_key: str | None = _setting(
        None,
        "At least 32 characters from which other secrets are derived; unset with the embedded database: "
        "made once and kept in DATA_DIR.",
        secret=True,
    )
    pending_order_lifetime: timedelta = _setting(timedelta(hours=24), "How long a pending order can be confirmed.")
    vat_rate: Decimal = _setting(Decimal(20), "VAT in per cent on deliveries within GB and IM.")
    low_stock: int = _setting(5, "Fewer units than this in stock show as 'Low stock'.")
    own_brand_prefix: str = _setting("ORD-", "Prefix of order references of customers with own-brand packing.")
    plain_prefix: str = _setting("PLN-", "Prefix of order references of customers with plain packing.")
    max_body_bytes: int = _setting(1024 * 1024, "Longest request body accepted, in bytes.")
    refresh_interval: timedelta = _setting(
        timedelta(seconds=1), "How often a process looks for changed prices, stock, products and keys."
    )
    database_connections: int = _setting(10, "Most database connections of one process.")
    log_requests: bool = _setting(False, "Log every request, not only those that fail.")  # noqa: FBT003 a setting's default is a value, not a call's flag

    @property
    def embedded(self) -> bool:
        """Whether the embedded PostgreSQL is used."""
        return self.database_url is None


def _parse(name: str, annotation: Any, text: str) -> Any:
    try:
        if annotation is Path:
            return Path(text)
        if annotation is timedelta and text.replace(".", "", 1).isdigit():
            return timedelta(seconds=float(text))  # a number of seconds, not money
        return msgspec.convert(text, annotation, strict=False)
    except (msgspec.ValidationError, OverflowError) as error:
        raise SettingsError(f"{PREFIX}{name.upper()}: {str(error).lower()}") from error


def _checked(settings: Settings) -> Settings:
    if settings.secret_key is not None and len(settings.secret_key) < 32:  # noqa: PLR2004 named in the message
        raise SettingsError(f"{PREFIX}SECRET_KEY: must have at least 32 characters")
    if settings.pending_order_lifetime <= timedelta(0):
        raise SettingsError(f"{PREFIX}PENDING_ORDER_LIFETIME: must be longer than nothing")
    if settings.refresh_interval <= timedelta(0):
        raise SettingsError(f"{PREFIX}REFRESH_INTERVAL: must be longer than nothing")
    if not 0 <= settings.vat_rate <= 100:  # noqa: PLR2004 per cent
        raise SettingsError(f"{PREFIX}VAT_RATE: must be between 0 and 100 per cent")
    if settings.base_url is not None and not settings.base_url.startswith(("http://", "https://")):
        raise SettingsError(f"{PREFIX}BASE_URL: must start with http:// or https://")
    return settings


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings from the environment, and where it is silent from `.env` in the working directory.

    An empty variable counts as unset. Raises SettingsError for a value that cannot be used.
    """
    if environment is None:
        from_file = {k: v for k, v in dotenv_values(".env").items() if v is not None}
        environment = {**from_file, **os.environ}
    values = {
        setting.name: _parse(setting.name, setting.type, text)
        for setting in fields(Settings)
        if (text := environment.get(PREFIX + setting.name.upper(), "").strip())
    }
    if "base_url" in values:
        values["base_url"] = values["base_url"].rstrip("/")
    return _checked(Settings(**values))


def describe(settings: Settings) -> list[dict[str, str | None]]:
    """Return every setting's variable, value (secrets hidden) and meaning."""
    rows: list[dict[str, str | None]] = []
    for setting in fields(Settings):
        value = getattr(settings, setting.name)
        shown = None if value is None else str(value)
        if shown is not None and setting.metadata["secret"]:
            shown = "(hidden)"
        name = PREFIX + setting.name.upper()
        rows.append({"name": name, "value": shown, "meaning": setting.metadata["meaning"]})
    return rows
