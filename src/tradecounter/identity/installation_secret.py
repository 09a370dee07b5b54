"""The installation's secret, and keys derived from it."""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from tradecounter.settings import Settings, SettingsError

_FILE = "secret.key"


def secret_key(settings: Settings) -> str:
    """Return the secret; with the embedded database it is made once and kept in the data directory.

    Raises SettingsError when another database is used and no secret is set.
    """
    if settings.secret_key is not None:
        return settings.secret_key
    if not settings.embedded:
        raise SettingsError("TRADECOUNTER_SECRET_KEY: is required with TRADECOUNTER_DATABASE_URL")
    path = settings.data_dir / _FILE
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return _make(path)


def derived_key(secret: str, purpose: str) -> str:
    """Return a key of 64 hexadecimal characters that only the secret's holder can make."""
    return hmac.digest(secret.encode(), purpose.encode(), hashlib.sha256).hex()


def _make(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    secret = secrets.token_hex(32)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another process was first
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(secret)
    return secret
