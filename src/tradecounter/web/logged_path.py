"""The path of a request as log lines show it."""

import re

from starlette.requests import Request

_SECRETS = re.compile(r"(/quote-link/)[^/]+")  # whoever has the link can accept the quote


def logged_path(request: Request) -> str:
    """Return a request's path without the secrets of one-time links."""
    return _SECRETS.sub(r"\1(hidden)", request.url.path)
