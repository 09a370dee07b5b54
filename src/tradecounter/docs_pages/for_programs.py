"""What programs and agents read beside the interface document: Markdown, and whom to tell of a vulnerability."""

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.page_kit.page import Page, page_endpoint
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import ANY_ADDRESS
from tradecounter.kit.clock import Clock
from tradecounter.kit.email_addresses import parse_mailbox
from tradecounter.kit.errors import DomainError, Kind

MARKDOWN = "text/markdown"
PLAIN = "text/plain"

_VALID = timedelta(days=180)  # of security.txt; RFC 9116 recommends less than a year


_LLMS = f"""# {{title}} of {{seller}}

> {{summary}}

The base address is {ANY_ADDRESS}. Send the customer's API key as `X-Api-Key`, and `Accept: application/json`. Errors
have a `message` for people and a `code` for programs. Send an `Idempotency-Key` with each order.

Agents order at {ANY_ADDRESS}/mcp, a Model Context Protocol server, with OAuth or a key: see the guide.

## Documentation

- [Guide]({ANY_ADDRESS}/guide.md): how to authenticate, read the catalogue, order, retry and follow events
- [Reference]({ANY_ADDRESS}/docs.md): every operation with its parameters, fields and errors
- [Interface document]({ANY_ADDRESS}/openapi.json): OpenAPI 3.1
- [Changes]({ANY_ADDRESS}/changelog.json): what has changed, as a JSON feed

## Operations

"""


def llms_text(document: Mapping[str, Any], seller: str) -> str:
    """Return `/llms.txt`: what the service is, and where its texts are (llmstxt.org)."""
    about = document["info"]
    operations = [
        f"- [{method.upper()} {path}]({ANY_ADDRESS}/docs.md): {operation['summary']}\n"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    return _LLMS.format(title=about["title"], seller=seller, summary=about["summary"]) + "".join(operations)


class SecurityText(Struct, frozen=True):
    """`security.txt` (RFC 9116); `contact` is an e-mail address or an https URL, or None."""

    contact: str | None
    clock: Clock

    @page_endpoint("/.well-known/security.txt", "Whom to tell of a vulnerability")
    async def send_security(self, call: Call) -> Response:
        if self.contact is None:
            raise DomainError(Kind.NOT_FOUND, "unknown path")
        mailbox = parse_mailbox(self.contact)
        contact = self.contact if mailbox is None else f"mailto:{mailbox.addr_spec}"
        now = self.clock.now()
        expires = datetime.combine((now + _VALID).date(), time(), now.tzinfo)
        text = (
            f"Contact: {contact}\n"
            f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}\n"
            "Preferred-Languages: en\n"
            f"Canonical: {ANY_ADDRESS}/.well-known/security.txt\n"
        )
        return Page.of(text, PLAIN).response(call)
