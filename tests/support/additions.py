"""The list of what the interface document marks as an addition. `make docs` writes it to `docs/additions.md`."""

import sys
from collections.abc import Iterator

from support.interface import Document, interface_document
from tradecounter.edge.openapi.core import ADDED_HEADERS, ADDED_STATUSES, ADDITION

HEAD = """# Additions

What the customers' API has beyond its core (`src/tradecounter/edge/openapi/core.py`), as the interface document marks
it. [specification.md](specification.md) has the rules. Written by `make docs`.
"""


def additions_page(document: Document) -> str:
    """Return the page that `docs/additions.md` holds."""
    parts = {
        "Operations": added_operations(document),
        "Parts of the core's operations": parts_of_operations(document),
        "Schemas": added_schemas(document),
        "Fields of the core's schemas": added_fields(document),
        "Headers of the core's errors": headers_of_errors(document),
        "Error codes": (f"`{code}`" for code in document["components"]["schemas"]["Code"]["x-extensible-enum"]),
    }
    return HEAD + "".join(
        f"\n## {title}\n\n" + "".join(f"- {line}\n" for line in lines) for title, lines in parts.items()
    )


def operations(document: Document) -> Iterator[tuple[str, Document]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def added_operations(document: Document) -> Iterator[str]:
    return (f"`{name}`" for name, operation in operations(document) if ADDITION in operation)


def parts_of_operations(document: Document) -> Iterator[str]:
    for name, operation in operations(document):
        parameters = [found["name"] for found in operation.get("parameters", ()) if ADDITION in found]
        responses = operation["responses"].values()
        headers = dict.fromkeys(header for response in responses for header in response.get(ADDED_HEADERS, ()))
        found = {"parameters": parameters, "statuses": operation.get(ADDED_STATUSES, ()), "headers": headers}
        parts = [f"{kind} {', '.join(f'`{one}`' for one in names)}" for kind, names in found.items() if names]
        if ADDITION not in operation:
            yield f"`{name}`: {'; '.join(parts)}"


def added_schemas(document: Document) -> Iterator[str]:
    return (f"`{name}`" for name, schema in document["components"]["schemas"].items() if ADDITION in schema)


def added_fields(document: Document) -> Iterator[str]:
    for name, schema in document["components"]["schemas"].items():
        fields = [f"`{field}`" for field, found in schema.get("properties", {}).items() if ADDITION in found]
        if fields:
            yield f"`{name}`: {', '.join(fields)}"


def headers_of_errors(document: Document) -> Iterator[str]:
    for name, response in document["components"]["responses"].items():
        yield f"`{name}`: {', '.join(f'`{header}`' for header in response[ADDED_HEADERS])}"


if __name__ == "__main__":
    sys.stdout.write(additions_page(interface_document()))
