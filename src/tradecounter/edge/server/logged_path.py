"""The path of a request as log lines show it."""

import re

from starlette.requests import Request

# Whoever has the link can accept the quote, or read the feed.
_SECRETS = re.compile(r"(/quote-link/|^/feed/)[^/]+")


def logged_path(request: Request) -> str:
    """Return a request's path without the secrets of one-time links and feeds."""
    return _SECRETS.sub(r"\1(hidden)", request.url.path)
