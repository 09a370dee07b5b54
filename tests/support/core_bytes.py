"""The part of a response that belongs to the core of the API, in its own bytes: additions are cut out, nothing is read
and written again."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from support.interface import Document, interface, resolve
from tradecounter.edge.openapi.core import CORE

_JSON = "application/json"
_CELLS = re.compile(r'("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)')
_RESOURCES = {"/product": "Product", "/order": "Order"}
_WORDS = ("Error", "message")  # for people; they may be said better


def core_of_response(response: Any) -> str:
    """Return the core of a response: its status, headers and body, with what differs each time left out."""
    request, described_by = response.request, interface()
    path = described_by.path_of(request.url.path)
    assert path is not None
    core = CORE.operations[f"{request.method} {path}"]
    headers = [f"{name}: {response.headers[name]}" for name in sorted(core.headers) if name in response.headers]
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    if kind == _JSON:
        given = described_by.document["paths"][path][request.method.lower()]["responses"][str(response.status_code)]
        schema = resolve(described_by.document, given)["content"][_JSON]["schema"]
        body = core_of_json(response.text, schema, described_by.document)
    elif kind == "text/csv":
        body = core_of_csv(response.content.decode(), _RESOURCES[path], described_by.document)
    else:
        body = response.text
    return "\n".join([f"{response.status_code} {kind}", *headers, body])


def core_of_json(text: str, schema: dict[str, Any], document: Document) -> str:
    """Return compact JSON without the members of objects that are no part of the core."""
    cut = _Cutter(document)
    assert cut.rebuilt(text) == text  # nothing but the members is taken apart
    return cut.core(text, schema)


def core_of_csv(text: str, resource: str, document: Document) -> str:
    """Return a table without columns that are no part of the core, each cell as it was sent.

    Its lists of objects are JSON in a cell.
    """
    fields = document["components"]["schemas"][resource]["properties"]
    cells = _CELLS.findall(text)
    assert "".join(cell + end for cell, end in cells) == text
    width = 1 + next(place for place, (_, end) in enumerate(cells) if end == "\r\n")
    names = [cell.partition(".")[0] for cell, _ in cells[:width]]
    kept = [place for place, name in enumerate(names) if name in CORE.schemas[resource]]
    cut = _Cutter(document)

    def core_cell(place: int, cell: str) -> str:
        if not cell.startswith('"['):
            return cell
        inner = cut.core(cell[1:-1].replace('""', '"'), fields[names[place]])
        return '"' + inner.replace('"', '""') + '"'

    rows = [cells[start : start + width] for start in range(0, len(cells), width)]
    return "".join(",".join(core_cell(place, row[place][0]) for place in kept) + "\r\n" for row in rows)


class _Cutter:
    """Takes JSON apart into texts, and joins them again."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def rebuilt(self, text: str) -> str:
        return self._joined(text, lambda name, value: f"{_quoted(name)}:{self.rebuilt(value)}", self.rebuilt)

    def core(self, text: str, schema: dict[str, Any]) -> str:
        options = [option for option in schema.get("anyOf", [schema]) if option != {"type": "null"}]
        assert len(options) == 1
        [option] = options
        name = option.get("$ref", "").rpartition("/")[2]
        whole = resolve(self._document, option)
        fields = whole.get("properties", {})

        def member(field: str, value: str) -> str | None:
            if name in CORE.schemas and field not in CORE.schemas[name]:
                return None
            if (name, field) == _WORDS:
                value = '"…"'
            return f"{_quoted(field)}:{self.core(value, fields.get(field, {}))}"

        return self._joined(text, member, lambda item: self.core(item, whole.get("items", {})))

    def _joined(self, text: str, member: Any, item: Any) -> str:
        if text.startswith("{"):
            return "{" + ",".join(filter(None, (member(*pair) for pair in _members(text)))) + "}"
        if text.startswith("["):
            items = msgspec.json.decode(text, type=list[msgspec.Raw])
            return "[" + ",".join(item(bytes(each).decode()) for each in items) + "]"
        return text


def _members(text: str) -> Iterator[tuple[str, str]]:
    for name, value in msgspec.json.decode(text, type=dict[str, msgspec.Raw]).items():
        yield name, bytes(value).decode()


def _quoted(name: str) -> str:
    return msgspec.json.encode(name).decode()


_VARIES = (
    (re.compile(r"http://[0-9.]+:[0-9]+"), "https://api.example"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "CODE"),
    (re.compile(r'"order_id":[0-9]+'), '"order_id":NUMBER'),
    (re.compile(r'"id":[0-9]+,"order_reference"'), '"id":NUMBER,"order_reference"'),
    (re.compile(r"^[0-9]+,ORD-", re.MULTILINE), "NUMBER,ORD-"),
    (re.compile(r"/order/[0-9]+"), "/order/NUMBER"),
)


def core_of_exchange(name: str, response: Any) -> str:
    """Return a request and its response with names for what is free: the host, codes, and orders' numeric ids."""
    text = f"{name}\n{core_of_response(response)}\n"
    for pattern, called in _VARIES:
        text = pattern.sub(called, text)
    return text
