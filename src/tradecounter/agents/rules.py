"""Rules of agents: what they may be allowed, for how long, and where they return a browser to."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Literal
from urllib.parse import urlsplit

AgentScope = Literal["read", "order"]

SCOPES: tuple[AgentScope, ...] = ("read", "order")
DAYS = (1, 7, 30, 90, 365)  # for how long a consent may be given
USUAL_DAYS = 30
NEVER_ALLOWED_FOR = timedelta(days=1)  # after which a client that nobody has allowed is deleted
MOST_REGISTRATIONS = 20  # from an address within REGISTRATION_WINDOW
REGISTRATION_WINDOW = timedelta(hours=1)
FRESH_FOR = timedelta(hours=1)  # of a client's document
LONGEST_NAME = 100
LONGEST_CLIENT_ID = 500

_LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|localhost|\[::1\]))(?::[0-9]{1,5})?(?=[/?]|\Z)")
_DOCUMENT = re.compile(r"https://[a-z0-9.-]+(?::[0-9]{1,5})?/[A-Za-z0-9._~%!$&'()*+,=:@/-]+")
_DOTS = re.compile(r"/\.{1,2}(?:/|\Z)")


def scopes_in(text: str | None) -> tuple[AgentScope, ...]:
    """Return the known scopes among those that an agent asks for, in a fixed order; all if it names none.

    Others, such as `offline_access`, are left out.
    """
    asked = None if text is None else text.split()
    return tuple(scope for scope in SCOPES if asked is None or scope in asked)


def is_registered(redirect_uri: str, registered: Sequence[str]) -> bool:
    """Return whether a redirect URI is one of a client's, character by character.

    A program on the person's own computer may listen on any port (RFC 8252, section 7.3).
    """
    return redirect_uri in registered or (
        is_on_own_computer(redirect_uri)
        and any(_without_port(redirect_uri) == _without_port(each) for each in registered if is_on_own_computer(each))
    )


def is_on_own_computer(redirect_uri: str) -> bool:
    """Return whether a redirect URI leads to a program on the person's own computer."""
    return _LOOPBACK.match(redirect_uri) is not None


def returns_to(redirect_uri: str) -> str:
    """Return where a redirect URI leads to, for people."""
    host = urlsplit(redirect_uri).netloc
    return f"{host}, a program on your own computer" if is_on_own_computer(redirect_uri) else host


def is_document_address(client_id: str) -> bool:
    """Return whether a client id is the address of a document that describes the client."""
    return (
        len(client_id) <= LONGEST_CLIENT_ID
        and _DOCUMENT.fullmatch(client_id) is not None
        and _DOTS.search(urlsplit(client_id).path) is None
    )


def _without_port(uri: str) -> str:
    return _LOOPBACK.sub(r"\1", uri)
