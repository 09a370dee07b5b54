"""A client that knows only the core of the API is sent the same bytes as before anything was added to it.

`core_story.txt` was recorded on 2026-11-28 from revision df7e38a1 of this project, of 2026-11-22: the last one before
the first addition. That revision told the same story (`support/core_story.py`) to its own server and database. Two
things were changed in the recording, both since decided otherwise: what errors say in words is left out, and in the
table of orders an item has its id, quantity and costs only, since a spreadsheet's cell holds 32,767 characters.

So the recording is no copy of today's responses. When the story gets new requests, take their responses from today
and read each field against `docs/specification.md`.
"""

from pathlib import Path

import pytest

from support.core_bytes import core_of_csv, core_of_exchange, core_of_json
from support.core_story import tell_core_story
from support.interface import interface, interface_document
from support.service import Service
from tradecounter.edge.openapi.core import CORE

RECORDED = Path(__file__).with_name("core_story.txt")
ELSEWHERE = {"GET /", "GET /check-health", "GET /openapi.json", "GET /openapi.yaml", "POST /oauth/token"}
ORDERS = {"type": "array", "items": {"$ref": "#/components/schemas/Order"}}
ORDER = '{"id":1,"cost_net":5.50,"status":"Gr\\u00fcn","items":[{"id":2,"quantity":1}]}'


@pytest.mark.sweep
@pytest.mark.spec("9 Versioning", "what is added leaves the specified fields as they are")
def test_the_core_of_every_response_has_the_bytes_that_it_had(own_service: Service) -> None:
    exchanges = tell_core_story(own_service).exchanges
    told = [core_of_exchange(name, response) for name, response in exchanges]
    with RECORDED.open(newline="", encoding="utf-8") as file:
        assert "\n".join(told) == file.read()
    requests = [response.request for _, response in exchanges]
    asked = {f"{request.method} {interface().path_of(request.url.path)}" for request in requests}
    assert CORE.operations.keys() - asked == ELSEWHERE


def cut(text: str) -> str:
    return core_of_json(text, ORDERS, interface_document())


def test_what_is_added_is_cut_out() -> None:
    added = (
        ORDER.replace('{"id":1', '{"new":{"id":1},"id":1')
        .replace('"id":2', '"id":2,"sku":"A"')
        .replace("]}", '],"x":[]}')
    )
    assert cut(f"[{added}]") == f"[{ORDER}]"
    table = 'id,status,items,changed_on\r\n1,"a ""b""","[{""id"":2,""sku"":""A"",""quantity"":1}]",x\r\n'
    core = 'id,status,items\r\n1,"a ""b""","[{""id"":2,""quantity"":1}]"\r\n'
    assert core_of_csv(table, "Order", interface_document()) == core


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"cost_net":5.50', '"cost_net":5.5'),
        ('"cost_net":5.50', '"cost_net":"5.50"'),
        ("Gr\\u00fcn", "Grün"),
        ('"id":1,"cost_net":5.50', '"cost_net":5.50,"id":1'),
        ('"quantity":1', '"quantity":1.0'),
        (',"quantity":1', ""),
        ('"Gr\\u00fcn"', "null"),
    ],
)
def test_another_spelling_or_order_and_what_is_missing_is_seen(before: str, after: str) -> None:
    changed = ORDER.replace(before, after)
    assert changed != ORDER
    assert cut(f"[{changed}]") != cut(f"[{ORDER}]")


def test_space_between_members_is_seen() -> None:
    with pytest.raises(AssertionError):
        cut(f"[{ORDER.replace(',', ', ')}]")
