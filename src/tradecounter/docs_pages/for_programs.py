"""What programs and agents read: the reference as Markdown, `llms.txt`, `security.txt`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tradecounter.docs_pages.fields import Field, Group
from tradecounter.docs_pages.reference import Section, sections_by_tag, shared_errors
from tradecounter.edge.page_kit.page import Page, page_endpoint
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import ANY_ADDRESS, EXAMPLE_ADDRESS, Operation
from tradecounter.kit.clock import Clock
from tradecounter.kit.email_addresses import parse_mailbox
from tradecounter.kit.errors import DomainError, Kind

_SAMPLE = "curl"


def reference_markdown(document: Mapping[str, Any], operations: Iterable[Operation]) -> str:
    """Return the reference of an interface document as Markdown."""
    base_url = document["servers"][0]["url"]
    guide = f"[guide]({base_url}/guide.md)"
    interface = f"[openapi.json]({base_url}/openapi.json)"
    lines = [
        f"# {document['info']['title']}: reference",
        f"Base address: `{base_url}`. The {guide} explains how things go together; {interface} is for programs.",
        document["info"]["description"].strip(),
    ]
    sections = sections_by_tag(document, operations)
    for tag in document["tags"]:
        lines += [f"## {tag['name']}", tag["description"]]
        for section in sections[tag["name"]]:
            lines += _operation(section)
    lines.append("## Errors")
    lines += [f"- `{error.status}` {error.description}" for error in shared_errors(document)]
    text = "\n\n".join(filter(None, lines)) + "\n"
    return re.sub(r"\n\n(?=[ ]*- )", "\n", text).replace(EXAMPLE_ADDRESS, base_url)


def _operation(section: Section) -> Iterator[str]:
    yield f"### {section.summary}"
    credential = " Needs no key." if section.public else ""
    added = " An addition." if section.added else ""
    yield f"`{section.method} {section.path}` ({section.name}).{added}{credential}"
    yield section.description
    for title, found in section.parameters.items():
        yield f"{title}:"
        yield from _fields(found)
    if section.body is not None:
        optional = "" if section.body_required else " (optional)"
        yield f"Body{optional}, {section.body.type}, `{section.body.media_types[0]}`:"
        yield from _groups(section.body.groups)
    success = section.success
    kind = (
        "" if success.body is None else f" {success.body.type.capitalize()}, {' or '.join(success.body.media_types)}."
    )
    yield f"Response `{success.status}`: {success.description}{kind}"
    if success.body is not None:
        yield from _groups(success.body.groups)
    if section.own:
        yield "Also:"
        yield from (f"- `{response.status}` {response.description}" for response in section.own)
    if section.errors:
        yield f"Errors: {', '.join(f'`{error.status}`' for error in section.errors)}."
    yield f"```sh\n{section.samples[_SAMPLE][1]}\n```"


def _groups(groups: Sequence[Group], depth: int = 0) -> Iterator[str]:
    for group in groups:
        if group.title:
            yield f"{'  ' * depth}- *{group.title}*"
        yield from _fields(group.fields, depth + bool(group.title))


def _fields(fields: Iterable[Field], depth: int = 0) -> Iterator[str]:
    for field in fields:
        yield f"{'  ' * depth}- `{field.name}` ({', '.join(_facts(field))}): {' '.join(field.description.split())}"
        yield from _groups(field.groups, depth + 1)


def _facts(field: Field) -> Iterator[str]:
    yield field.type
    yield from filter(None, (field.note, field.bounds))
    if field.added:
        yield "an addition"
    if field.values:
        yield f"one of {', '.join(field.values)}"
    if field.default:
        yield f"default {field.default}"
    if field.same_as:
        yield f"as {field.same_as}"


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
