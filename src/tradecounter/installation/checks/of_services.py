"""Checks of the settings, the mail server, the issuer and the API."""

import os
from collections.abc import Iterator
from dataclasses import fields
from urllib.parse import urlsplit

import httpx2
import msgspec

from tradecounter.consent.issuer import issuer_name
from tradecounter.identity.installation_secret import kept_secret, secret_key
from tradecounter.identity.oauth.issuer import IssuerAwayError, read_issuer
from tradecounter.installation.checks.check import Check, fine, wrong
from tradecounter.installation.setting_warnings import PLAIN_REMEDY, examples_in, plain_addresses
from tradecounter.kit.trusted_authorities import http_client
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.notifications.context import MailSettings
from tradecounter.notifications.transport import MailServer, Undelivered, mail_folder
from tradecounter.settings import PREFIX, Settings, SettingsError, unknown_settings

_OF_THE_SELLER = tuple(setting.name for setting in fields(Settings) if setting.name.startswith("seller_"))


def check_settings(settings: Settings) -> Iterator[Check]:
    """Check that all settings are known, valid and not examples."""
    yield _usable(settings)
    examples = examples_in(settings)
    if examples:
        names = ", ".join(example.setting for example in examples)
        yield wrong("examples", f"still an example, or not set: {names}", "set them, in the environment or in `.env`")
    else:
        yield fine("examples", "all settings differ from the examples")
    yield _addresses(settings)
    yield _seller(settings)


def _addresses(settings: Settings) -> Check:
    if plain := plain_addresses(settings):
        return wrong("https", f"nobody can sign in over plain HTTP: {', '.join(plain)}", PLAIN_REMEDY)
    return fine("https", "browsers keep sessions at the addresses that are set")


def _seller(settings: Settings) -> Check:
    try:
        letterhead = letterhead_from(settings)
    except SettingsError as error:
        return wrong("seller", str(error), "correct it: the back office and the worker do not start until then")
    missing = [f"{PREFIX}{name.upper()}" for name in _OF_THE_SELLER if getattr(settings, name) is None]
    if missing:
        return fine("seller", f"not set, so not on invoices: {', '.join(missing)}")
    return fine("seller", f"invoices and e-mails show all details of {letterhead.seller.name}")


def _usable(settings: Settings) -> Check:
    if unknown := unknown_settings():
        names = [name if nearest is None else f"{name} (did you mean {nearest}?)" for name, nearest in unknown]
        return wrong("settings", f"unknown settings: {', '.join(names)}", "correct or remove them")
    is_made_later = settings.embedded and settings.secret_key is None and kept_secret(settings.data_dir) is None
    try:
        _ = is_made_later or secret_key(settings)
    except SettingsError as error:
        return wrong("settings", str(error), "set it; `tradecounter init` writes a file with a new one")
    return fine("settings", f"all {len(fields(Settings))} are valid")


_SECONDS = 5.0
_FAILURES = (httpx2.HTTPError, httpx2.InvalidURL, OSError, msgspec.DecodeError)
_NOT_ADMITTED = 403


class _Health(msgspec.Struct):
    status: str
    database: str
    writes: bool = True


class _Ready(msgspec.Struct):
    ready: bool
    reasons: list[str]


async def check_mail(settings: Settings) -> Check:
    """Check that the mail server accepts a connection and the login; sends no e-mail."""
    try:
        mail_settings = MailSettings.from_settings(settings)
        if settings.smtp_url is None:
            return _check_folder(settings)
        await MailServer(settings.smtp_url).check(mail_settings.sender.addr_spec)
    except SettingsError as error:
        return wrong("mail", str(error), "correct this setting; e-mails wait until then")
    except Undelivered as error:
        return wrong(
            "mail", str(error), "correct TRADECOUNTER_SMTP_URL, or repair the mail server; e-mails wait until then"
        )
    return fine("mail", f"{urlsplit(settings.smtp_url).hostname} accepts mail from {mail_settings.sender.addr_spec}")


def _check_folder(settings: Settings) -> Check:
    folder = mail_folder(settings)
    place = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if os.access(place, os.W_OK):
        return fine("mail", f"e-mails are written to {folder}")
    return wrong(
        "mail", f"{place} cannot be written", "let the worker's user write there, or set TRADECOUNTER_SMTP_URL"
    )


async def check_issuer(settings: Settings) -> Check:
    """Check that the issuer's keys can be fetched: those of another service, or the own ones, as clients do."""
    url, remedy = settings.auth_url, "correct TRADECOUNTER_AUTH_URL, or repair the issuer"
    if url is None:
        if settings.base_url is None:
            return fine("issuer", "not checked: TRADECOUNTER_BASE_URL is not set")
        url = issuer_name(settings.base_url)
        remedy = "start `tradecounter serve`, set TRADECOUNTER_BASE_URL to https, or let the proxy pass /auth on"
    try:
        issuer = await read_issuer(url)
    except IssuerAwayError as error:
        return wrong("issuer", f"{url}: {error}", remedy)
    return fine("issuer", f"{issuer.name} publishes {len(issuer.keys)} keys")


async def check_snapshot(settings: Settings) -> Check:
    """Check that the API responds at its public URL with current data."""
    return await _check_site("snapshot", settings.base_url, "BASE_URL", "serve")


async def check_backoffice(settings: Settings) -> Check:
    """Check that the back office responds at its URL."""
    return await _check_site("backoffice", settings.backoffice_url, "BACKOFFICE_URL", "backoffice")


async def _check_site(name: str, site_url: str | None, setting: str, command: str) -> Check:
    if site_url is None:
        return fine(name, f"not checked: {PREFIX}{setting} is not set")
    url = f"{site_url}/check-health"
    remedy = (
        f"start `tradecounter {command}`, or correct {PREFIX}{setting} or the proxy; the log of `{command}` says more"
    )
    try:
        response = await _get(url)
        health = msgspec.json.decode(response.content, type=_Health) if response.is_success else None
    except _FAILURES as error:
        return wrong(name, f"{url}: {type(error).__name__}: {error}", remedy)
    if response.status_code == _NOT_ADMITTED and name == "backoffice":
        return fine(name, f"{url} responds; {PREFIX}BACKOFFICE_NETWORKS does not admit this machine")
    if health is None:
        return wrong(name, f"{url} responds with status {response.status_code}", remedy)
    finding = f"{url} says status {health.status}, database {health.database}"
    if not health.writes and health.database == "ok":
        finding += ", which cannot write"
    return fine(name, finding) if (health.status, health.database) == ("ok", "ok") else wrong(name, finding, remedy)


async def check_ready(settings: Settings) -> Check:
    """Check that the processes that respond at the public URLs would get requests from a load balancer."""
    sites = [url for url in (settings.base_url, settings.backoffice_url) if url is not None]
    if not sites:
        return fine("ready", f"not checked: {PREFIX}BASE_URL and {PREFIX}BACKOFFICE_URL are not set")
    reasons = [reason for site in sites for reason in await _reasons(f"{site}/ready")]
    if not reasons:
        return fine("ready", f"{' and '.join(sites)} get requests")
    remedy = "read the log of the process; after a change of settings, restart all processes"
    return wrong("ready", "; ".join(reasons), remedy)


async def _reasons(url: str) -> list[str]:
    try:
        response = await _get(url)
        ready = msgspec.json.decode(response.content, type=_Ready)
    except _FAILURES:  # the check of the site itself says more
        return []
    return [] if ready.ready else [f"{url} says: {'; '.join(ready.reasons)}"]


async def _get(url: str) -> httpx2.Response:
    async with http_client(url, _SECONDS) as client:
        return await client.get(url)
