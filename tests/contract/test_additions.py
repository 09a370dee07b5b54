"""The interface document marks what is beyond the core of the customers' API, and `docs/additions.md` lists it."""

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.additions import additions_page, operations
from support.interface import Document, backoffice_document, everything, interface_document
from tradecounter.edge.openapi.core import ADDED_HEADERS, ADDED_STATUSES, ADDITION, CORE, mark_additions

DOCS = Path(__file__).parents[2] / "docs"
LISTED = DOCS / "additions.md"
MARKS = {ADDITION, ADDED_STATUSES, ADDED_HEADERS}


def unmarked(document: Document) -> list[str]:
    """Name what is beyond the core and has no mark, and what the core has and is marked."""
    faults: list[str] = []

    def judge(name: str, *, is_core: bool, marked: bool) -> None:
        if is_core == marked:
            faults.append(name)

    for name, operation in operations(document):
        core = CORE.operations.get(name)
        judge(name, is_core=core is not None, marked=ADDITION in operation)
        if core is None:
            continue
        for parameter in operation.get("parameters", ()):
            called = parameter["name"]
            judge(f"{name} {called}", is_core=called in core.parameters, marked=ADDITION in parameter)
        general = set() if operation.get("security") == [] else CORE.general_statuses
        for status, response in operation["responses"].items():
            added = operation.get(ADDED_STATUSES, ())
            judge(f"{name} {status}", is_core=status in core.statuses | general, marked=status in added)
            for header in response.get("headers", ()):
                added = response.get(ADDED_HEADERS, ())
                judge(f"{name} {status} {header}", is_core=header in core.headers, marked=header in added)
    for name, schema in document["components"]["schemas"].items():
        judge(name, is_core=name in CORE.schemas, marked=ADDITION in schema)
        for field, member in schema.get("properties", {}).items() if name in CORE.schemas else ():
            judge(f"{name}.{field}", is_core=field in CORE.schemas[name], marked=ADDITION in member)
    return faults


@pytest.mark.spec("9 Versioning", "what is beyond the core is marked in the interface document")
def test_all_that_is_beyond_the_core_is_marked_and_nothing_else() -> None:
    assert unmarked(interface_document()) == []


def add_operation(document: Document) -> None:
    document["paths"]["/news"] = {"get": {"responses": {"200": {"headers": {}}}}}


def add_parameter(document: Document) -> None:
    document["paths"]["/order"]["get"]["parameters"].append({"name": "colour", "in": "query"})


def add_status(document: Document) -> None:
    document["paths"]["/order"]["get"]["responses"]["418"] = {"$ref": "#/components/responses/NotFound"}


def add_header(document: Document) -> None:
    document["paths"]["/order"]["get"]["responses"]["200"]["headers"]["X-New"] = {}


def add_schema(document: Document) -> None:
    document["components"]["schemas"]["News"] = {"type": "object"}


def add_field(document: Document) -> None:
    document["components"]["schemas"]["Order"]["properties"]["colour"] = {"type": "string"}


@pytest.mark.parametrize("add", [add_operation, add_parameter, add_status, add_header, add_schema, add_field])
def test_an_addition_without_a_mark_is_found_and_a_new_one_is_marked_and_listed(
    add: Callable[[Document], None],
) -> None:
    document: dict[str, Any] = copy.deepcopy(interface_document())
    add(document)
    assert len(unmarked(document)) == 1
    for found in everything(document):
        for mark in MARKS & set(found):
            del found[mark]
    mark_additions(document, CORE)
    assert unmarked(document) == []
    assert additions_page(document) != additions_page(interface_document())


def test_the_document_has_the_whole_core() -> None:
    document = interface_document()
    found = dict(operations(document))
    for name, core in CORE.operations.items():
        responses = found[name]["responses"]
        success = responses[min(core.statuses)]
        assert core.statuses <= set(responses)
        assert core.headers <= set(success["headers"])
        assert core.parameters <= {each["name"] for each in found[name].get("parameters", ())}
    schemas = document["components"]["schemas"]
    for name, fields in CORE.schemas.items():
        assert fields <= set(schemas[name].get("properties", ())), name


def test_the_back_office_has_no_core_and_no_marks() -> None:
    assert not any(MARKS & set(found) for found in everything(backoffice_document()))


def test_the_list_is_up_to_date() -> None:
    assert LISTED.read_text() == additions_page(interface_document()), (
        "docs/additions.md is out of date: run `make docs`"
    )


def added_names(document: Document) -> Iterator[str]:
    for name, operation in operations(document):
        if ADDITION in operation:
            yield name.partition(" ")[2]
        yield from (each["name"] for each in operation.get("parameters", ()) if ADDITION in each)
    for schema in document["components"]["schemas"].values():
        yield from (field for field, member in schema.get("properties", {}).items() if ADDITION in member)


def test_the_rules_name_every_added_operation_parameter_and_field() -> None:
    rules = (DOCS / "specification.md").read_text()
    codes = " ".join(re.findall(r"`[^`\n]+`", rules))
    spelled = {*re.findall(r"/[\w{}/.-]+", codes), *re.findall(r"[\w-]+", codes)}
    assert [name for name in dict.fromkeys(added_names(interface_document())) if name not in spelled] == []
