"""Validates e-mail addresses, with the same rules for the API, imports, settings and e-mails."""

import re
from email.headerregistry import Address
from email.utils import parseaddr

from tradecounter.kit.text import one_line

# Without `=?`, which begins an encoded word (RFC 2047): the standard library would decode it, line breaks included.
_ATOM = r'(?:(?!=\?)[^\s()<>\[\]:;@\\,."])+'
_DOT_ATOM = rf"{_ATOM}(\.{_ATOM})*"
_ASCII_DOMAIN = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")

# For the interface document and the decoder. `parse_email` also rejects domains without an ASCII form.
# In Python, `$` also matches before a final line break, which must not reach an e-mail's header.
EMAIL_PATTERN = rf"^(?!\S*\s){_DOT_ATOM}@{_DOT_ATOM}$"
NOT_AN_EMAIL = "must be an e-mail address"
LONGEST_EMAIL = 254  # characters, as RFC 5321 allows


def parse_email(text: str, name: str = "") -> Address | None:
    """Return the address with its domain in ASCII, or None if mail servers do not accept it."""
    local, _, domain = text.rpartition("@")
    if len(text) > LONGEST_EMAIL:
        return None
    try:
        domain = domain.encode("idna").decode("ascii")
    except UnicodeError:
        return None
    if not (local.isprintable() and re.fullmatch(_DOT_ATOM, local) and _ASCII_DOMAIN.fullmatch(domain)):
        return None
    return Address(one_line(name), local, domain)


def parse_mailbox(text: str) -> Address | None:
    """Return an address with an optional name before it, `Name <name@shop.example>`, or None."""
    name, address = parseaddr(text)
    return parse_email(address, name) if text.isprintable() else None
