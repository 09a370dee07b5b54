"""The official TypeScript client of the Model Context Protocol and the inspector's command line order."""

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest

from support.agent_consent import connecting
from support.built_clients import TypeScriptClient, ran
from support.guide import program_of
from support.mail import free_port
from support.node_packages import SOURCE, installed, node_22
from support.pages import Person, customer_user, fields_of
from support.service import Service
from support.shop import order

pytestmark = pytest.mark.long


def link_packages(folder: Path) -> None:
    packages = installed()
    assert packages is not None
    (folder / "node_modules").symlink_to(packages / "node_modules")


def program(tmp_path: Path, name: str) -> Path:
    """A program in a folder with the packages."""
    link_packages(tmp_path)
    (tmp_path / "main.mjs").write_bytes((SOURCE / "agents" / name).read_bytes())
    return tmp_path


def allowed(owner: Person, address: str) -> str:
    """Where the browser is sent when the owner allows an agent."""
    page = owner.get(address)
    return owner.send("/auth/authorize", {**fields_of(page), "decision": "allow"}).headers["Location"]


def test_the_typescript_client_searches_prices_and_confirms(shop: Service, tmp_path: Path) -> None:
    customer = shop.customer()
    done = subprocess.run(
        ["node", "main.mjs"],
        cwd=program(tmp_path, "client.mjs"),
        env={**os.environ, "BASE": shop.url, "KEY": customer.key, "ORDER": json.dumps(order())},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["tools"], found["sku"], found["rejected"]) == (10, "PHONE", "price_changed")
    reference = found["confirmed"]["order"]["order_reference"]
    assert customer.get(f"/order/{reference}").json()["status"] == "Awaiting dispatch"


def test_the_guides_program_orders(shop: Service, tmp_path: Path) -> None:
    customer = shop.customer()
    link_packages(tmp_path)
    command = TypeScriptClient(tmp_path).command("agent", program_of("ts file=agent.ts"))
    printed = ran(command, {"BASE": shop.url, "KEY": customer.key}).split()
    assert printed[0] == "confirmed"
    assert customer.get(f"/order/{printed[-1]}").json()["customer_reference"] == "PO-7001"


def test_the_typescript_client_goes_from_an_address_to_a_confirmed_order(shop: Service, tmp_path: Path) -> None:
    customer = shop.customer()
    owner = customer_user(shop, customer.id, "owner")
    running = subprocess.Popen(
        ["node", "main.mjs"],
        cwd=program(tmp_path, "oauth.mjs"),
        env={**os.environ, "BASE": shop.url, "ORDER": json.dumps(order())},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with running:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        printed, said = running.communicate(allowed(owner, address) + "\n", timeout=60)
    assert running.returncode == 0, said
    found = json.loads(printed)
    assert (found["confirmed"]["code"], found["scope"], found["refreshable"]) == ("confirmed", "read order", True)
    reference = found["confirmed"]["order"]["order_reference"]
    assert customer.get(f"/order/{reference}").json()["status"] == "Awaiting dispatch"


INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


def inspector(shop: Service, *words: str, era: str = "auto") -> list[str | Path]:
    """The inspector's command for a method."""
    packages = installed()
    assert packages is not None
    if (node := node_22(packages)) is None:
        pytest.skip("needs Node.js 22; the summary says so")
    return [
        node, packages / INSPECTOR, "--cli", f"{shop.url}/mcp", "--transport", "http", "--protocol-era", era,
        "--format", "json", "--quiet", *words,
    ]  # fmt: skip


def inspected(shop: Service, home: Path, *words: str, era: str = "auto", **headers: str) -> Any:
    """What the inspector prints of a method, without asking anybody."""
    given = [word for name, value in headers.items() for word in ("--header", f"{name.replace('_', '-')}: {value}")]
    done = subprocess.run(
        [*inspector(shop, *words, era=era), "--stored-auth-only", *given],
        env={"HOME": str(home), "PATH": os.environ["PATH"]}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def connect_inspector(shop: Service, home: Path, owner: Person, *words: str) -> Any:
    """What the inspector prints of a method after the owner has allowed it."""
    terminal, keyboard = pty.openpty()  # it asks nobody without a terminal
    callback = f"http://127.0.0.1:{free_port()}/oauth/callback"
    with subprocess.Popen(
        inspector(shop, *words, "--callback-url", callback),
        env={"HOME": str(home), "PATH": os.environ["PATH"], "MCP_AUTO_OPEN_ENABLED": "false"},
        stdin=keyboard,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        address = next(word for line in running.stderr for word in line.split() if "/auth/authorize?" in word)
        assert httpx2.get(allowed(owner, address)).status_code == 200
        printed, said = running.communicate(timeout=120)
    for end in (terminal, keyboard):
        os.close(end)
    assert running.returncode == 0, said
    return json.loads(printed)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_finds_every_tool_portable(shop: Service, tmp_path: Path, era: str) -> None:
    key = shop.customer().key
    found = inspected(shop, tmp_path, "--method", "tools/list", "--strict", era=era, X_Api_Key=key)
    assert len(str(found)) > 1000


def test_the_inspector_calls_a_tool_with_the_token_of_an_agent(shop: Service, tmp_path: Path) -> None:
    agent = connecting(shop, customer_user(shop, shop.customer().id, "owner"))
    token = agent.tokens()["access_token"]
    words = ("--method", "tools/call", "--tool-name", "get_products", "--tool-args-json", '{"skus": ["PHONE"]}')
    found = inspected(shop, tmp_path, *words, Authorization=f"Bearer {token}")
    assert "PHONE" in json.dumps(found)


def test_the_inspector_goes_from_an_address_to_a_confirmed_order(shop: Service, tmp_path: Path) -> None:
    customer = shop.customer()
    owner = customer_user(shop, customer.id, "owner")

    def call(tool: str, arguments: dict[str, Any]) -> Any:  # each time as a client that nobody has allowed
        words = ("--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
        return connect_inspector(shop, tmp_path / tool, owner, *words)["result"]["structuredContent"]

    priced = call("price_order", order())
    option = priced["shipping_options"][0]
    shown = {"confirmation_code": priced["confirmation_code"], "shipping_method": option["id"]}
    confirmed = call("confirm_order", {**shown, "total": option["total_gross"]})
    assert confirmed["code"] == "confirmed"
    reference = confirmed["order"]["order_reference"]
    assert customer.get(f"/order/{reference}").json()["status"] == "Awaiting dispatch"
