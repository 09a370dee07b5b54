"""Recognises EANs, the numbers in the bar codes of articles (GS1 general specifications, 7.9)."""

import re

_EAN = re.compile(r"[0-9]{8}|[0-9]{12,14}")


def is_ean(text: str) -> bool:
    """Return whether a text has 8, 12, 13 or 14 ASCII digits; the last one is the check digit."""
    if _EAN.fullmatch(text) is None or not text.strip("0"):
        return False
    digits = [int(digit) for digit in reversed(text)]
    return (sum(digits[::2]) + 3 * sum(digits[1::2])) % 10 == 0
