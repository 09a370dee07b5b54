"""The headers of deprecated operations (RFC 9745; RFC 8594)."""

from datetime import UTC, date, datetime, time
from email.utils import format_datetime

from starlette.responses import Response

from tradecounter.edge.rest.headers import DEPRECATION, SUNSET
from tradecounter.edge.rest.operation import Operation

LINK_RELATION = 'rel="deprecation sunset"'


def mark_deprecated(response: Response, operation: Operation, base_url: str) -> None:
    """Add the headers of a deprecated operation to a response; a link leads to the operation in the reference."""
    if (deprecation := operation.deprecation) is None:
        return
    reference = f"{base_url}{'/api/docs' if operation.path.startswith('/api/') else '/docs'}#{operation.name}"
    response.headers[DEPRECATION.name] = f"@{int(_begin(deprecation.since).timestamp())}"
    response.headers[SUNSET.name] = format_datetime(_begin(deprecation.sunset), usegmt=True)
    response.headers.append("Link", f'<{reference}>; {LINK_RELATION}; type="text/html"')


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
