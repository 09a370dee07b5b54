"""The API reference as Markdown, for programs and agents that read text."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tradecounter.docs_pages.fields import Field, Group
from tradecounter.docs_pages.reference import Section, sections_by_tag, shared_errors
from tradecounter.edge.rest.operation import EXAMPLE_ADDRESS, Operation

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
