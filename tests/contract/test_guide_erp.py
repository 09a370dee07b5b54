"""The operators' guide's chapter on ERP systems runs as it stands, on the demo data, in one shell."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.backoffice import ALL_SCOPES, BackOfficeSite, backoffice_of
from support.command_line import Forker, Program
from support.demo import Demo, running_demo
from support.events import last_sequence, number_events
from support.guide import operators_guide, operators_page

GUIDE, CHAPTER = operators_guide(), operators_page("erp")

_BLOCK = re.compile(r"^```(?P<kind>[^\n]+)\n(?P<content>.*?)^```$", re.MULTILINE | re.DOTALL)
_CALL = re.compile(r"`(GET|POST|PATCH|DELETE) (/api/[^`?]*)")
_DONE = "the-block-is-done"


@dataclass
class Shell:
    """A shell that stops at the first error."""

    folder: Path
    process: subprocess.Popen[str]

    def run(self, block: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{block}\necho; echo {_DONE}\n")
        self.process.stdin.flush()
        printed = ""
        for line in self.process.stdout:
            if line.strip() == _DONE:
                return printed
            printed += line
        raise AssertionError(f"{block}\nended with {self.process.wait()}: {printed}")

    def document(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text())


@pytest.fixture(scope="module")
def demo(database_url: str) -> Iterator[Demo]:
    with running_demo(database_url) as running:
        yield running


@pytest.fixture(scope="module")
def office(demo: Demo) -> Iterator[BackOfficeSite]:
    with backoffice_of(demo.service) as running:
        yield running


@pytest.fixture
def shell(demo: Demo, office: BackOfficeSite, forker: Forker, tmp_path: Path) -> Iterator[Shell]:
    [command] = [block["content"] for block in _BLOCK.finditer(CHAPTER) if block["kind"] == "sh token"]
    program, *words = shlex.split(command)
    assert program == "tradecounter"
    token = Program(tmp_path, demo.service.database_url, forker).json(*words)["token"]
    for block in _BLOCK.finditer(CHAPTER):
        if file := block["kind"].partition("csv file=")[2]:
            (tmp_path / file).write_text(block["content"])
    values = {"API": f"{office.url}/api", "TOKEN": token, "POSITION": str(last_sequence(demo.service))}
    with subprocess.Popen(
        ["bash", "-euo", "pipefail"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=tmp_path,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "no_proxy": "*", **values},
    ) as process:
        yield Shell(tmp_path, process)
        assert process.stdin is not None
        process.stdin.close()


def order_two_phones(demo: Demo) -> str:
    address = {"id": demo.customer.get("/customer/address").json()[0]["id"]}
    body = {
        "customer_reference": "PO-77", "items": [{"sku": "CV-320P", "quantity": 2}], "auto_confirm": True,
        "billing_address": address, "shipping_address": address,
    }  # fmt: skip
    placed = demo.customer.post("/order", json=body)
    assert placed.status_code == 201, placed.text
    return str(placed.json()["order_reference"])


@pytest.mark.sweep
def test_the_examples_take_an_order_from_its_event_to_its_credit_note(demo: Demo, shell: Shell) -> None:
    blocks = [block["content"] for block in _BLOCK.finditer(CHAPTER) if block["kind"] == "sh"]
    define, send, read, changed, own_ids, dispatch, invoice, pay, take_back, recover = blocks
    shell.run(define)
    assert shell.run(send).count('"errors":[]') == 3
    reference = order_two_phones(demo)
    number_events(demo.service)
    shell.run(read)
    assert shell.document("order.json")["order_reference"] == reference
    shell.run(changed)
    assert reference in [order.get("order_reference") for order in shell.document("changed.json")]
    shell.run(own_ids)
    assert [order["order_reference"] for order in shell.document("orders.json")] == [reference]
    shell.run(dispatch)
    assert shell.document("dispatched.json")["status"] == "Dispatched"
    assert shell.document("tracked.json")["shipping"][0]["last_tracking_status"] == "In transit"
    shell.run(invoice)
    assert shell.document("invoice.json")["order_reference"] == reference
    assert (shell.folder / "invoice.pdf").read_bytes().startswith(b"%PDF")
    shell.run(pay)
    bank = shell.document("bank.json")
    assert (bank["recorded"], len(bank["unplaced"])) == (1, 1)
    number_events(demo.service)
    shell.run(take_back)
    assert shell.document("received.json")["state"] == "closed"
    assert shell.document("credit-note.json")["cost_net"] == 1.5
    number_events(demo.service)
    shell.run(take_back.splitlines()[-1])
    types = [event["type"] for event in shell.document("money.json")]
    assert types == ["invoice.issued", "payment.recorded", "payment.recorded", *["credit_note.issued"] * 2]
    shell.run(f"POSITION=0\n{recover}")
    assert int(shell.run("echo $POSITION")) == last_sequence(demo.service)


def test_each_call_of_the_tables_exists(office: BackOfficeSite) -> None:
    paths = office.client().get("/api/openapi.json").json()["paths"]
    shapes = {(re.sub(r"\{[^}]*\}", "{}", path), method.upper()) for path, found in paths.items() for method in found}
    named = {(re.sub(r"\{[^}]*\}", "{}", path), method) for method, path in _CALL.findall(GUIDE)}
    assert len(named) > 20
    assert named - shapes == set()
    scopes = set(re.findall(r"`(\w+:(?:read|write))`", CHAPTER))
    assert scopes - set(ALL_SCOPES) - {scope.replace("write", "read") for scope in ALL_SCOPES} == set()


def test_each_command_of_the_steps_after_the_sale_exists() -> None:
    chapter = operators_page("orders").partition("\n## After the sale\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[1] for line in chapter.splitlines() if line.startswith("| ") and "/api/" in line]
    commands = {command.partition(" --")[0] for row in rows for command in re.findall(r"`([^`]+)`", row)}
    documented = set(re.findall(r"^\| `tradecounter ([^`]+)` \|", GUIDE, re.MULTILINE))
    assert len(commands) > 20
    assert commands - documented == set()
