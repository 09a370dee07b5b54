"""`tradecounter init`: writes a first `.env` file."""

import os
import secrets
import tempfile
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from tradecounter.edge.command_line.output import AsJson, show
from tradecounter.edge.command_line.session import fail
from tradecounter.identity.installation_secret import kept_secret
from tradecounter.kit.setting_rules import SHORTEST_SECRET, comma_separated
from tradecounter.settings import FILE, PREFIX, Settings, SettingsError, describe, values_in

_SECRET_BYTES = 32
_WIDTH = 100
_SAVED = Path(f"{FILE}.old")

# Settings that a service for customers needs, with examples. Other settings have usable defaults.
_NEEDED = {
    "DATABASE_URL": "postgresql://user:password@host/tradecounter",
    "BASE_URL": "https://api.example.com",
    "BACKOFFICE_URL": "https://backoffice.example.com",
    "TRUSTED_PROXIES": "127.0.0.1",
    "SMTP_URL": "smtp://user:password@mail.example.com:587",
    "MAIL_FROM": "Orders <orders@example.com>",
    "SUPPORT_EMAIL": "support@example.com",
    "SELLER_NAME": "Example Reseller Ltd",
    "SELLER_ADDRESS": "1 Example Street, London, EC1A 1AA, United Kingdom",
    "SELLER_VAT_NUMBER": "GB000000000",
    "SELLER_EMAIL": "sales@example.com",
    "SELLER_PHONE": "+44 20 7946 0000",
    "SELLER_COMPANY_NUMBER": "00000000",
    "SELLER_REGISTERED_OFFICE": "1 Example Street, London, EC1A 1AA, United Kingdom",
    "SELLER_BANK": "Example Bank|Sort code 00-00-00|Account number 00000000",
    "SELLER_LOGO": "/usr/local/share/tradecounter/logo.png",
}
_HEADING = """\
# Tradecounter's settings. Lines that begin with # are comments. `tradecounter settings` lists the values in
# use, `tradecounter doctor` checks them. Environment variables take precedence over this file.
"""
_SECRETS = {"SECRET_KEY", "FORMER_SECRET_KEYS"}


def init(
    force: Annotated[
        bool, typer.Option("--force", help=f"Replace {FILE}; the old file is renamed to {_SAVED}.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a commented `.env` with all settings and a new secret key, which only you can read."""
    path = Path(FILE)
    try:
        saved = _write(path, _text(_former_secrets(path)), force=force)
    except FileExistsError:
        fail(f"{FILE} exists: edit it, or replace it with --force, which renames it to {_SAVED}")
    except OSError as error:
        fail(f"{FILE} cannot be written: {error.strerror}")
    text = f"{path.absolute()} is written. Set the settings at its top, then run `tradecounter doctor`."
    show(
        {"path": str(path.absolute()), "saved": None if saved is None else str(saved.absolute())}, text, as_json=as_json
    )


def _write(path: Path, text: str, *, force: bool) -> Path | None:
    """Create a file atomically; raises FileExistsError. With `force`, rename one that exists; return its new name.

    The text is on the disk before that, so that a full disk leaves the old file where it is.
    """
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=path.name, encoding="utf-8") as draft:  # mode 0600
        draft.write(text)
        draft.flush()
        os.fsync(draft.fileno())
        saved = path.replace(_SAVED) if force and path.exists() else None
        path.hardlink_to(draft.name)
    return saved


def _former_secrets(path: Path) -> list[str]:
    """Return the secrets used here before, which can still decrypt passwords; `path` is the file to be replaced."""
    values: dict[str, str] = {}
    with suppress(SettingsError):  # an invalid file sets nothing
        values = values_in(path)
    named = [values.get(f"{PREFIX}SECRET_KEY", ""), *comma_separated(values.get(f"{PREFIX}FORMER_SECRET_KEYS"))]
    embedded = kept_secret(Path(values.get(f"{PREFIX}DATA_DIR") or Settings().data_dir))
    return [secret for secret in dict.fromkeys([*named, embedded or ""]) if len(secret) >= SHORTEST_SECRET]


def _text(former: list[str]) -> str:
    meanings = {str(row["name"]): str(row["meaning"]) for row in describe(Settings())}
    defaults = {str(row["name"]): row["value"] or "" for row in describe(Settings())}
    parts = [
        _HEADING,
        _setting(f"{PREFIX}SECRET_KEY", meanings, secrets.token_hex(_SECRET_BYTES), is_set=True),
        _setting(f"{PREFIX}FORMER_SECRET_KEYS", meanings, ",".join(former), is_set=bool(former)),
        "# ---- Needed by a service for customers: remove the # and set them ----\n",
        *(_setting(PREFIX + name, meanings, example) for name, example in _NEEDED.items()),
        "# ---- Optional: the defaults are shown ----\n",
        *(
            _setting(name, meanings, default)
            for name, default in defaults.items()
            if name.removeprefix(PREFIX) not in _NEEDED.keys() | _SECRETS
        ),
    ]
    return "\n".join(parts)


def _setting(name: str, meanings: dict[str, str], value: str, *, is_set: bool = False) -> str:
    comment = textwrap.fill(meanings[name], _WIDTH, initial_indent="# ", subsequent_indent="# ")
    written = f'"{value}"' if " " in value else value
    return f"{comment}\n{'' if is_set else '# '}{name}={written}\n"
