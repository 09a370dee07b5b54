"""The security headers of every response, which browsers obey."""

from tradecounter.edge.rest.responses import Header

NO_FRAMES = "frame-ancestors 'none'"

_ALWAYS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", NO_FRAMES.encode()),
)
_OVER_HTTPS: Header = (b"strict-transport-security", b"max-age=31536000")  # a year, of this host alone


def security_headers(base_url: str | None) -> tuple[Header, ...]:
    """Return the headers for a public URL; a response may replace the content policy."""
    is_https = base_url is not None and base_url.startswith("https:")
    return (*_ALWAYS, _OVER_HTTPS) if is_https else _ALWAYS
