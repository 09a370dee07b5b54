"""The official TypeScript client of the Model Context Protocol orders."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from support.node_packages import SOURCE, installed
from support.service import Service
from support.shop import order

pytestmark = pytest.mark.long


def test_the_typescript_client_searches_prices_and_confirms(shop: Service, tmp_path: Path) -> None:
    packages, customer = installed(), shop.customer()
    assert packages is not None
    (tmp_path / "node_modules").symlink_to(packages / "node_modules")
    (tmp_path / "main.mjs").write_bytes((SOURCE / "agents" / "client.mjs").read_bytes())
    program = subprocess.run(
        ["node", "main.mjs"],
        cwd=tmp_path,
        env={**os.environ, "BASE": shop.url, "KEY": customer.key, "ORDER": json.dumps(order())},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert program.returncode == 0, program.stderr
    found = json.loads(program.stdout)
    assert (found["tools"], found["sku"], found["rejected"]) == (10, "PHONE", "price_changed")
    reference = found["confirmed"]["order"]["order_reference"]
    assert customer.get(f"/order/{reference}").json()["status"] == "Awaiting dispatch"
