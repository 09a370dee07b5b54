"""npm's OAuth libraries go the whole way: consent in a browser, code, refresh, exchange, a call, revocation."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.consent import CALLBACK, Consenting, running_consent
from support.node_packages import SOURCE, installed
from support.pages import Person, customer_user, fields_of

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def consenting(database_url: str) -> Iterator[Consenting]:
    with running_consent(database_url) as running:
        yield running


@pytest.fixture(scope="module")
def owner(consenting: Consenting) -> Person:
    return customer_user(consenting.service, consenting.customer.id, "owner")


@pytest.mark.parametrize("library", ["openid-client", "simple-oauth2"])
def test_the_library_goes_the_whole_way(consenting: Consenting, owner: Person, library: str, tmp_path: Path) -> None:
    packages, application = installed(), consenting.register(name=library)
    assert packages is not None
    (tmp_path / "node_modules").symlink_to(packages / "node_modules")
    (tmp_path / "main.mjs").write_bytes((SOURCE / "oauth" / f"{library}.mjs").read_bytes())
    program = subprocess.Popen(
        ["node", "main.mjs"],
        cwd=tmp_path,
        env={
            **os.environ,
            "BASE": consenting.service.url,
            "CLIENT_ID": application.client_id,
            "CLIENT_SECRET": application.client_secret,
            "CALLBACK": CALLBACK,
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with program:
        assert program.stdout is not None
        address = program.stdout.readline().strip()
        printed, said = program.communicate(allowed(owner, address) + "\n", timeout=60)
    assert program.returncode == 0, said
    found = json.loads(printed)
    assert found["types"] == ["bearer"] * 3
    assert (found["renewed"], found["customer"]) == (True, consenting.customer.get("/customer").json()["email_address"])
    consenting.service.refresh()
    assert consenting.use(found["token"]).status_code == 401, "revoked"


def allowed(owner: Person, address: str) -> str:
    """Where the browser is sent when the owner allows the application."""
    page = owner.get(address)
    return owner.send("/auth/authorize", {**fields_of(page), "decision": "allow"}).headers["Location"]
