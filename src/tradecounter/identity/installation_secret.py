"""The installation's secret key, its former keys, and keys derived from them."""

import hashlib
import hmac
import secrets
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tradecounter.kit.private_folder import close_file, make_data_dir
from tradecounter.settings import Settings, SettingsError, former_secrets

_FILE = "secret.key"
_LENGTH = 64


def secret_key(settings: Settings) -> str:
    """Return the secret; with the embedded database, it is generated once and stored in the data directory.

    Raises SettingsError when no secret is set for another database, or when the stored secret is damaged.
    """
    if settings.secret_key is not None:
        return settings.secret_key
    if not settings.embedded:
        raise SettingsError("TRADECOUNTER_SECRET_KEY: is required with TRADECOUNTER_DATABASE_URL")
    path = settings.data_dir / _FILE
    if not path.exists():
        _make(path)
    close_file(path)
    secret = path.read_text().strip()
    if len(secret) < _LENGTH:
        raise SettingsError(f"{path}: contains no secret of {_LENGTH} characters; restore the file from a backup")
    return secret


def with_secret(settings: Settings) -> Settings:
    """Return the settings with the secret key: while a process runs, another one in the file is not its key.

    Raises SettingsError as `secret_key`.
    """
    return replace(settings, secret_key=secret_key(settings))


def secret_if_set(settings: Settings) -> str | None:
    """Return the secret, or None for another database without one. Raises SettingsError when it is damaged."""
    return secret_key(settings) if settings.secret_key is not None or settings.embedded else None


def secret_keys(settings: Settings) -> list[str]:
    """Return the secret key, which encrypts, then the old keys, which only decrypt. Raises SettingsError."""
    return list(dict.fromkeys([secret_key(settings), *former_secrets(settings)]))


def kept_secret(data_dir: Path) -> str | None:
    """Return the secret stored in a data directory, or None when the file is missing or unreadable."""
    try:
        return (data_dir / _FILE).read_text().strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def derived_key(secret: str, purpose: str) -> str:
    """Return a key of 64 hexadecimal characters, derived from the secret for a purpose."""
    return hmac.digest(secret.encode(), purpose.encode(), hashlib.sha256).hex()


def _make(path: Path) -> None:
    """Write a file under a temporary name, then link it, so no process reads a partial file; keep an existing file."""
    make_data_dir(path.parent)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=_FILE) as draft:  # readable by its owner alone
        draft.write(secrets.token_hex(_LENGTH // 2))
        draft.flush()
        with suppress(FileExistsError):
            path.hardlink_to(draft.name)
