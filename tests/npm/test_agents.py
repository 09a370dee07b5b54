"""The official TypeScript client of the Model Context Protocol and the inspector's command line order."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.agent_consent import connecting
from support.node_packages import SOURCE, installed, node_22
from support.pages import Person, customer_user, fields_of
from support.service import Service
from support.shop import order

pytestmark = pytest.mark.long


def program(tmp_path: Path, name: str) -> Path:
    """A program in a folder with the packages."""
    packages = installed()
    assert packages is not None
    (tmp_path / "node_modules").symlink_to(packages / "node_modules")
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


def inspected(shop: Service, home: Path, *words: str, era: str = "auto", **headers: str) -> Any:
    """What the inspector prints of a method."""
    packages = installed()
    assert packages is not None
    if (node := node_22(packages)) is None:
        pytest.skip("needs Node.js 22; the summary says so")
    given = [word for name, value in headers.items() for word in ("--header", f"{name.replace('_', '-')}: {value}")]
    done = subprocess.run(
        [node, packages / INSPECTOR, "--cli", f"{shop.url}/mcp", "--transport", "http",
         "--protocol-era", era, "--format", "json", "--quiet", "--stored-auth-only", *words, *given],
        env={"HOME": str(home), "PATH": os.environ["PATH"]}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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
