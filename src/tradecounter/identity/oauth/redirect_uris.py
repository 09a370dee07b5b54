"""The redirect URIs of an application: where its customers' browsers go back to (RFC 9700, section 2.1)."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from tradecounter.kit.errors import DomainError, invalid
from tradecounter.kit.setting_rules import is_safe_url

MOST_REDIRECT_URIS = 20
_LONGEST = 2000
_UNSAFE = "must start with https:// and a host; http:// is allowed for this machine only"
# Only characters that need no escape in a Location header, and none that ends a directive of a content policy.
_ADDRESS = re.compile(
    r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::[0-9]{1,5})?(?:[/?][A-Za-z0-9._~%!$&'()*+,=:@/?-]*)?"
)
_WEB = re.compile("https?://[^/?]")
_DOTS = re.compile(r"/\.{1,2}(?:[/?]|\Z)")


def check_redirect_uris(uris: Sequence[str]) -> None:
    """Check the redirect URIs of an application. Raises DomainError (invalid)."""
    if len(uris) > MOST_REDIRECT_URIS:
        raise invalid("redirect_uri", f"there must be at most {MOST_REDIRECT_URIS}")
    for uri in uris:
        problem = _problem(uri)
        if problem is not None:
            raise _wrong(uri, problem)


def origin_of(uri: str) -> str:
    """Return a redirect URI's scheme, host and port, as a source of a content policy names them."""
    parts = urlsplit(uri)
    # A policy cannot name an IPv6 address.
    return f"{parts.scheme}:" if "[" in parts.netloc else f"{parts.scheme}://{parts.netloc}"


def _problem(uri: str) -> str | None:
    if "#" in uri:
        return "must have no fragment"
    if not _WEB.match(uri):
        return _UNSAFE
    if len(uri) > _LONGEST or not _ADDRESS.fullmatch(uri):
        return "must be a plain URL with its host in lower case, without a user name, spaces and special characters"
    if not is_safe_url(uri):
        return _UNSAFE
    if _DOTS.search(uri.partition("?")[0]):
        return "must have no . or .. in its path"
    return None


def _wrong(uri: str, problem: str) -> DomainError:
    return invalid("redirect_uri", f"{uri[:200]!r} {problem}")
