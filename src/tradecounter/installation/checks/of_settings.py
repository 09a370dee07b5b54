"""Checks that need only the settings."""

from collections.abc import Iterator
from dataclasses import fields

from tradecounter.identity.installation_secret import kept_secret, secret_key
from tradecounter.installation.checks.check import Check, fine, wrong
from tradecounter.installation.setting_warnings import PLAIN_REMEDY, examples_in, plain_addresses
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.settings import PREFIX, Settings, SettingsError, unknown_settings

_OF_THE_SELLER = tuple(setting.name for setting in fields(Settings) if setting.name.startswith("seller_"))


def check_settings(settings: Settings) -> Iterator[Check]:
    """Check that all settings are known, valid and not examples."""
    yield _usable(settings)
    examples = examples_in(settings)
    if examples:
        found = ", ".join(example.setting for example in examples)
        yield wrong("examples", f"still an example, or not set: {found}", "set them, in the environment or in `.env`")
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
        return wrong("seller", str(error), "correct it: no invoice is issued and no e-mail is sent until then")
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
