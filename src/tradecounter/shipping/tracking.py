"""Links to carriers' tracking pages, made from a pattern for each shipping method."""

import re
from urllib.parse import quote

_PLACE = "{tracking_number}"
# Excludes strings that a browser could read as another scheme or host, and characters that end a link in e-mails.
_PATTERN = re.compile(r"https?://[A-Za-z0-9._-]+(:[0-9]{1,5})?[/?#][^\s\"'<>\\`]*")


def is_tracking_pattern(text: str) -> bool:
    """Return whether a string is an http or https URL with `{tracking_number}` after its host."""
    return _PLACE in text and _PATTERN.fullmatch(text) is not None


def tracking_link(pattern: str | None, tracking_number: str | None) -> str | None:
    """Return the URL of a parcel's tracking page; the number is percent-encoded. None without a pattern or a number."""
    if not pattern or not tracking_number:
        return None
    return pattern.replace(_PLACE, quote(tracking_number.strip(), safe=""))
