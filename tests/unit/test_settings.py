"""Settings: read from variables and from a file, checked, and shown without their secrets."""

import os
from dataclasses import fields
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tradecounter.settings import (
    PREFIX,
    Settings,
    SettingsError,
    describe,
    read_settings,
    runtime_folder,
    unknown_settings,
)

SECRET = "0123456789abcdef0123456789abcdef"


def read(**values: str) -> Settings:
    return read_settings({PREFIX + name: value for name, value in values.items()})


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({}, None),
        ({"XDG_RUNTIME_DIR": "/run/user/1000"}, Path("/run/user/1000/tradecounter")),
        ({"XDG_RUNTIME_DIR": " "}, None),
        ({"XDG_RUNTIME_DIR": "user/1000"}, None),  # the XDG specification ignores relative paths
    ],
)
def test_the_users_runtime_folder_is_used_if_there_is_one(variables: dict[str, str], folder: Path | None) -> None:
    assert runtime_folder(variables) == folder


def test_nothing_set_gives_the_defaults() -> None:
    assert read_settings({}) == Settings()


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("DATABASE_URL", "postgresql://user@host:5433/shop?sslmode=require", None),
        ("DATABASE_URL", "postgres:///shop?host=/run/postgresql", None),
        ("REPLICA_URL", "postgresql://reader@replica/shop", None),
        ("DATA_DIR", "/var/lib/shop", Path("/var/lib/shop")),
        ("DATA_DIR", "~/shop", Path.home() / "shop"),
        ("SNAPSHOT_DIR", "/run/shop", Path("/run/shop")),
        ("BASE_URL", "https://api.example", None),
        ("BASE_URL", "https://api.example/v1/", "https://api.example/v1"),
        ("SECRET_KEY", SECRET, None),
        ("PENDING_ORDER_LIFETIME", "PT24H", timedelta(hours=24)),
        ("KEEP_CHANGES", "3d", timedelta(days=3)),
        ("PENDING_ORDER_LIFETIME", "P1DT2H3M4S", timedelta(days=1, hours=2, minutes=3, seconds=4)),
        ("PENDING_ORDER_LIFETIME", "3600", timedelta(hours=1)),
        ("PENDING_ORDER_LIFETIME", "1.5", timedelta(milliseconds=1500)),
        ("PENDING_ORDER_LIFETIME", "24h", timedelta(hours=24)),
        ("PENDING_ORDER_LIFETIME", "7d", timedelta(days=7)),
        ("PENDING_ORDER_LIFETIME", "90m", timedelta(minutes=90)),
        ("PENDING_ORDER_LIFETIME", "30s", timedelta(seconds=30)),
        ("PENDING_ORDER_LIFETIME", "1.5h", timedelta(minutes=90)),
        ("REFRESH_INTERVAL", "PT0.25S", timedelta(milliseconds=250)),
        ("VAT_RATE", "17.5", Decimal("17.5")),
        ("VAT_RATE", "17.50", Decimal("17.5")),
        ("VAT_RATE", "0", Decimal(0)),
        ("LOW_STOCK", "0", 0),
        ("OWN_BRAND_PREFIX", "OB.", None),
        ("PLAIN_PREFIX", "P123-", None),
        ("PLAIN_PREFIX", "P" * 20, None),
        ("MAX_BODY_BYTES", "2048", 2048),
        ("ANSWER_MEMORY", "0", 0),
        ("DATABASE_CONNECTIONS", "25", 25),
        ("LOG_REQUESTS", "true", True),
        ("LOG_REQUESTS", "1", True),
        ("LOG_REQUESTS", "FALSE", False),
        ("AUTH_URL", "https://login.example/", "https://login.example"),
        ("AUTH_URL", "http://localhost:9000/realm", None),
        ("AUTH_URL", "http://127.0.0.1:9000", None),
        ("AUTH_URL", "http://[::1]:9000", None),
        ("QUOTE_LIFETIME", "P7D", timedelta(days=7)),
        ("SMTP_URL", "smtp://user:word@mail.example:587", None),
        ("SMTP_URL", "smtps://mail.example", None),
        ("MAIL_FROM", "Orders <orders@shop.example>", None),
        ("SUPPORT_EMAIL", "help@shop.example", None),
        ("SECURITY_CONTACT", "security@shop.example", None),
        ("SECURITY_CONTACT", "https://shop.example/report", None),
        ("RATE_LIMIT", "0", 0),
        ("ACCESS_TOKEN_LIFETIME", "600", timedelta(minutes=10)),
        ("TRUSTED_PROXIES", "10.0.0.0/8, ::1", None),
        ("CORS_ORIGINS", "*", None),
        ("CORS_ORIGINS", "https://shop.example, http://localhost:5173,http://[::1]:80", None),
        ("FORMER_SECRET_KEYS", f"{SECRET}, {SECRET}x", None),
        ("MAX_PENDING_ORDERS", "5", 5),
        ("MAX_UNPRICED_QUOTES", "5", 5),
        ("KEEP_EXPIRED_ORDERS", "P90D", timedelta(days=90)),
        ("KEEP_DELETED_ADDRESSES", "86400", timedelta(days=1)),
        ("KEEP_IDEMPOTENT_RESPONSES", "P365D", timedelta(days=365)),
        ("STALE_AFTER", "PT5M", timedelta(minutes=5)),
        ("MAX_CONNECTIONS", "100", 100),
        ("MAX_CONNECTIONS_PER_ADDRESS", "10", 10),
        ("SMTP_URL", "smtp+plain://mail.example:2525", None),
        ("SELLER_NAME", "Shop Ltd", None),
        ("SELLER_ADDRESS", "1 High Street, Leeds", None),
        ("SELLER_VAT_NUMBER", "GB123456789", None),
    ],
)
def test_a_variable_sets_its_setting(name: str, text: str, value: Any) -> None:
    settings = read(**{name: text})
    found = getattr(settings, name.lower())
    assert found == (text if value is None else value)
    changed = {f.name for f in fields(Settings) if getattr(settings, f.name) != getattr(Settings(), f.name)}
    assert changed <= {name.lower()}


TEXTS = {
    "database_url": "postgresql://elsewhere/shop",
    "replica_url": "postgresql://replica/shop",
    "data_dir": "elsewhere",
    "base_url": "http://elsewhere.example",
    "backoffice_url": "http://staff.elsewhere.example",
    "backoffice_networks": "10.0.0.0/8",
    "secret_key": SECRET,
    "former_secret_keys": SECRET,
    "pending_order_lifetime": "77",
    "staff_totp_required": "true",
    "auth_url": "https://elsewhere.example",
    "quote_lifetime": "77",
    "max_pending_orders": "77",
    "max_unpriced_quotes": "77",
    "keep_expired_orders": "77",
    "keep_deleted_addresses": "77",
    "keep_idempotent_responses": "77",
    "keep_changes": "77",
    "seller_name": "Elsewhere Ltd",
    "seller_address": "7 Seventh Street",
    "seller_vat_number": "GB777",
    "seller_email": "seven@elsewhere.example",
    "seller_phone": "0777",
    "seller_company_number": "777",
    "seller_registered_office": "7 Seventh Street",
    "seller_bank": "Seventh Bank|777",
    "seller_logo": "seven.png",
    "smtp_url": "smtp://elsewhere.example",
    "mail_from": "seven@elsewhere.example",
    "support_email": "seven@elsewhere.example",
    "invoice_each_dispatch": "true",
    "reminder_days": "7, 77",
    "rate_limit": "77",
    "access_token_lifetime": "77",
    "trusted_proxies": "10.0.0.7",
    "cors_origins": "https://elsewhere.example",
    "vat_rate": "7.7",
    "low_stock": "77",
    "own_brand_prefix": "SEVEN-",
    "plain_prefix": "SEVENTY-",
    "max_body_bytes": "777",
    "refresh_interval": "7",
    "stale_after": "77",
    "max_connections": "77",
    "max_connections_per_address": "77",
    "database_connections": "77",
    "commit_timeout": "77",
    "webhook_networks": "10.0.0.7",
    "webhook_http": "true",
    "answer_memory": "777",
    "snapshot_dir": "seven",
    "log_requests": "true",
    "security_contact": "seven@elsewhere.example",
    "sandbox": "true",
    "sandbox_pace": "7",
    "sandbox_source": "postgresql://reader@elsewhere.example/shop",
    "sandbox_mail": "seven@elsewhere.example",
    "sandbox_url": "https://sandbox.elsewhere.example",
    "sandbox_backoffice_url": "https://office.elsewhere.example",
    "sandbox_token": "seven",
}


def test_every_setting_is_read_from_its_variable() -> None:
    assert TEXTS.keys() == {setting.name for setting in fields(Settings)}
    settings = read(**{name.upper(): text for name, text in TEXTS.items()})
    assert all(getattr(settings, name) != getattr(Settings(), name) for name in TEXTS)


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_variable_counts_as_unset(text: str) -> None:
    assert read(DATABASE_URL=text, LOW_STOCK=text, PENDING_ORDER_LIFETIME=text) == Settings()


def test_space_around_a_value_does_not_matter() -> None:
    assert read(LOW_STOCK=" 7 ").low_stock == 7


def test_a_slash_at_the_end_of_an_address_does_not_matter() -> None:
    names = [name for name in TEXTS if name.endswith("_url") and TEXTS[name].startswith("http")]
    assert "sandbox_backoffice_url" in names
    settings = read(**{name.upper(): text + "/" * (name in names) for name, text in TEXTS.items()})
    assert all(getattr(settings, name) == TEXTS[name] for name in names)


@pytest.mark.spec("8 Price and stock cache", "changes show once the server has noticed, which is within five minutes")
@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("DATABASE_URL", "mysql://host/shop", "must be a postgresql:// URL"),
        ("REPLICA_URL", "mysql://host/shop", "must be a postgresql:// URL"),
        ("DATABASE_URL", "shop", "must be a postgresql:// URL"),
        ("BASE_URL", "api.example", "must start with http:// or https://"),
        ("BASE_URL", "ftp://api.example", "must start with http:// or https://"),
        ("BASE_URL", "https://", "must start with http:// or https:// and a host"),
        ("BASE_URL", "http://[broken", "must start with http:// or https:// and a host"),
        ("SECRET_KEY", "s" * 31, "must have at least 32 characters"),
        ("PENDING_ORDER_LIFETIME", "a day", "'a day' is not a duration such as 24h, 7d, 90m, 30s"),
        ("PENDING_ORDER_LIFETIME", "1 day", "'1 day' is not a duration"),
        ("PENDING_ORDER_LIFETIME", "²", "'²' is not a duration"),
        ("PENDING_ORDER_LIFETIME", "9" * 400, "is not a duration"),
        ("PENDING_ORDER_LIFETIME", "9" * 400 + "d", "is not a duration"),
        ("PENDING_ORDER_LIFETIME", "7w", "'7w' is not a duration"),
        ("PENDING_ORDER_LIFETIME", "1d12h", "'1d12h' is not a duration"),
        ("PENDING_ORDER_LIFETIME", "0", "must be longer than 0"),
        ("PENDING_ORDER_LIFETIME", "-PT1H", "must be longer than 0"),
        ("PENDING_ORDER_LIFETIME", "P4000D", "at most ten years"),
        ("REFRESH_INTERVAL", "PT0S", "must be longer than 0"),
        ("REFRESH_INTERVAL", "PT6M", "at most five minutes"),
        ("STALE_AFTER", "301", "at most five minutes"),
        ("STALE_AFTER", "0.5", "must be longer than TRADECOUNTER_REFRESH_INTERVAL"),
        ("SANDBOX_URL", "https://sandbox.example", "together with TRADECOUNTER_SANDBOX_BACKOFFICE_URL and TRADE"),
        ("FORMER_SECRET_KEYS", f"{SECRET},short", "each must have at least 32 characters"),
        ("MAX_PENDING_ORDERS", "0", "must be at least 1"),
        ("MAX_UNPRICED_QUOTES", "0", "must be at least 1"),
        ("KEEP_EXPIRED_ORDERS", "0", "must be longer than 0"),
        ("KEEP_DELETED_ADDRESSES", "never", "is not a duration"),
        ("KEEP_IDEMPOTENT_RESPONSES", "P4000D", "at most ten years"),
        ("MAX_CONNECTIONS", "0", "must be at least 1"),
        ("MAX_CONNECTIONS_PER_ADDRESS", "-1", "must be at least 1"),
        ("VAT_RATE", "twenty", "'twenty' is not a number"),
        ("VAT_RATE", "-1", "must be between 0 and 100 per cent"),
        ("VAT_RATE", "100.01", "must be between 0 and 100 per cent"),
        ("VAT_RATE", "nan", "'nan' is not a number"),
        ("VAT_RATE", "2_0", "'2_0' is not a number"),
        ("VAT_RATE", "17,5", "'17,5' is not a number"),
        ("LOW_STOCK", "1_0", "'1_0' is not a whole number"),
        ("LOW_STOCK", "\uff11", "'\uff11' is not a whole number"),
        ("VAT_RATE", "17.125", "with at most two decimal places"),
        ("LOW_STOCK", "few", "'few' is not a whole number"),
        ("LOW_STOCK", "1.5", "'1.5' is not a whole number"),
        ("LOW_STOCK", "-1", "must be between 0 and"),
        ("CORS_ORIGINS", "shop.example", "must be * or origins such as https://shop.example"),
        ("CORS_ORIGINS", "https://shop.example/", "must be * or origins such as https://shop.example"),
        ("CORS_ORIGINS", "*, https://shop.example", "must be * or origins such as https://shop.example"),
        ("CORS_ORIGINS", "null", "must be * or origins such as https://shop.example"),
        ("MAX_BODY_BYTES", "0", "must be at least 1"),
        ("DATABASE_CONNECTIONS", "0", "must be between 1 and 1000"),
        ("OWN_BRAND_PREFIX", "A/", "must start with a letter"),
        ("PLAIN_PREFIX", "12", "must start with a letter"),
        ("PLAIN_PREFIX", "P1", "must not end with a digit"),
        ("PLAIN_PREFIX", "P" * 21, "at most 20"),
        ("LOG_REQUESTS", "yes", "'yes' is not true or false"),
        ("AUTH_URL", "login.example", "must start with https:// and a host"),
        ("AUTH_URL", "http://login.example", "http:// is allowed for this machine only"),
        ("AUTH_URL", "http://127.0.0.1.example", "http:// is allowed for this machine only"),
        ("AUTH_URL", "https://", "must start with https:// and a host"),
        ("QUOTE_LIFETIME", "0", "must be longer than 0"),
        ("SMTP_URL", "mail.example:25", "must start with smtp://, smtps:// or smtp+plain:// and a host"),
        ("SMTP_URL", "smtp://", "must start with smtp://, smtps:// or smtp+plain:// and a host"),
        ("MAIL_FROM", "Orders", "must be an e-mail address"),
        ("MAIL_FROM", "a@b.example\nBcc: c@d.example", "must be an e-mail address"),
        ("SUPPORT_EMAIL", "help", "must be an e-mail address"),
        ("SECURITY_CONTACT", "http://shop.example", "must be an e-mail address or an https:// URL"),
        ("SUPPORT_EMAIL", "Help <help@shop..example>", "must be an e-mail address"),
        ("RATE_LIMIT", "-1", "must be between 0 and"),
        ("ACCESS_TOKEN_LIFETIME", "0", "must be at least a second"),
        ("TRUSTED_PROXIES", "10.0.0.0/8,proxy", "must be addresses or networks"),
    ],
)
def test_a_bad_value_is_rejected_and_its_variable_named(name: str, text: str, problem: str) -> None:
    with pytest.raises(SettingsError) as raised:
        read(**{name: text})
    assert str(raised.value).startswith(f"{PREFIX}{name}: ")
    assert problem in str(raised.value)


@pytest.mark.parametrize("name", ["DATABASE_URL", "SECRET_KEY"])
def test_a_bad_secret_is_not_repeated(name: str) -> None:
    with pytest.raises(SettingsError) as raised:
        read(**{name: "hunter2"})
    assert "hunter2" not in str(raised.value)


def test_the_environment_goes_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text(
        f"# shop\n{PREFIX}LOW_STOCK=7\n{PREFIX}VAT_RATE='19'\n{PREFIX}PLAIN_PREFIX\nOTHER=1\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(f"{PREFIX}LOW_STOCK", "9")
    monkeypatch.delenv(f"{PREFIX}DATABASE_URL", raising=False)
    settings = read_settings()
    assert (settings.low_stock, settings.vat_rate, settings.plain_prefix) == (9, Decimal(19), "PLN-")
    assert "OTHER" not in os.environ


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_bytes(f"{PREFIX}PLAIN_PREFIX=\xff".encode("latin-1"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=r"^\.env cannot be read: "):
        read_settings()


def test_only_without_a_url_the_database_is_embedded() -> None:
    assert read().embedded
    assert not read(DATABASE_URL="postgresql://host/shop").embedded


def test_every_setting_is_described_and_secrets_are_hidden() -> None:
    settings = read(DATABASE_URL="postgresql://u:hunter2@host/shop", SECRET_KEY=SECRET, LOG_REQUESTS="1")
    rows = {row["name"]: row for row in describe(settings)}
    assert set(rows) == {PREFIX + setting.name.upper() for setting in fields(Settings)}
    assert all(row["meaning"] for row in rows.values())
    assert rows[f"{PREFIX}SECRET_KEY"]["value"] == rows[f"{PREFIX}DATABASE_URL"]["value"] == "(hidden)"
    assert rows[f"{PREFIX}BASE_URL"]["value"] is None
    assert "hunter2" not in str(rows)
    assert SECRET not in str(rows)


def test_what_is_described_can_be_set_again() -> None:
    settings = read(PENDING_ORDER_LIFETIME="5400.5", LOG_REQUESTS="1", VAT_RATE="17.50", DATA_DIR="/var/shop")
    described = {str(row["name"]): row["value"] for row in describe(settings)}
    assert read_settings({name: value for name, value in described.items() if value is not None}) == settings


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("PT24H", "1d"),
        ("129600", "36h"),
        ("PT1H30M", "90m"),
        ("90", "90s"),
        ("1.5", "1.5s"),
        ("P1DT0.25S", "86400.25s"),
    ],
)
def test_a_duration_is_shown_in_the_largest_unit_that_it_is_whole_in(text: str, shown: str) -> None:
    described = {row["name"]: row["value"] for row in describe(read(PENDING_ORDER_LIFETIME=text))}
    assert described[f"{PREFIX}PENDING_ORDER_LIFETIME"] == shown
    assert read(PENDING_ORDER_LIFETIME=shown) == read(PENDING_ORDER_LIFETIME=text)


def test_unknown_names_are_reported_with_the_most_similar_one() -> None:
    given = {f"{PREFIX}BASE_ULR": "x", f"{PREFIX}LOW_STOCK": "7", f"{PREFIX}COLOUR": "", "OTHER": "x"}
    assert unknown_settings(given) == [(f"{PREFIX}BASE_ULR", f"{PREFIX}BASE_URL"), (f"{PREFIX}COLOUR", None)]
