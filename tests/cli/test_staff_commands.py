"""`tradecounter staff`, `token` and `user`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cluster import Cluster
from support.command_line import SECRET, Forker, Program

SAM = "sam@reseller.example"


@pytest.fixture(scope="module")
def shell(postgres: Cluster, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Iterator[Program]:
    folder: Path = tmp_path_factory.mktemp("staff")
    with postgres.database() as url:
        yield Program(folder, url, forker, {"TRADECOUNTER_SECRET_KEY": SECRET})


def test_a_staff_member_is_added_listed_reset_and_disabled(shell: Program) -> None:
    added = shell.json("staff", "add", SAM, "--name", "Sam", "--role", "support", "--role", "finance")
    assert set(added) == {"email", "roles", "link"}
    assert added["roles"] == ["support", "finance"]
    assert added["link"].startswith("http://127.0.0.1:8001/set-password?token=")
    address = {"TRADECOUNTER_BACKOFFICE_URL": "https://staff.example/"}
    reset = shell.json("staff", "reset", SAM, **address)
    assert reset["link"].startswith("https://staff.example/set-password?token=")
    assert shell.error("staff", "add", SAM.upper(), "--name", "S", "--role", "support") == (
        f"email: {SAM.upper()} is another staff member's"
    )
    for _ in range(2):
        assert shell.json("staff", "disable", SAM) == {"email": SAM, "disabled": True}
    assert len(shell.json("audit", "--action", "staff.disable")) == 1
    [listed] = shell.json("staff", "list")
    assert (listed["has_password"], listed["disabled_at"] is None) == (False, False)
    assert "password_hash" not in listed
    assert shell.error("staff", "disable", "no@reseller.example") == "staff member no@reseller.example not found"
    wrong = shell.error("staff", "add", "x@y.example", "--name", "X", "--role", "king")
    assert wrong == "--role: must be some of support, warehouse, finance, catalogue, administrator"


def test_a_token_is_added_once_listed_and_revoked(shell: Program) -> None:
    added = shell.json("token", "add", "--name", "ERP", "--scope", "orders:write", "--scope", "catalogue:read")
    assert set(added) == {"id", "name", "scopes", "token"}
    assert added["scopes"] == ["catalogue:read", "orders:write"]
    assert len(added["token"]) == 64
    assert added["token"] not in shell.text("token", "list")
    for _ in range(2):
        assert shell.json("token", "revoke", str(added["id"])) == {"id": added["id"], "revoked": True}
    assert len(shell.json("audit", "--action", "token.revoke")) == 1
    assert shell.json("token", "list")[0]["revoked_at"] is not None
    assert shell.error("token", "revoke", "999") == "token 999 not found"
    assert shell.error("token", "add", "--name", "X", "--scope", "all").startswith("--scope: must be some of ")
    past = shell.error("token", "add", "--name", "X", "--scope", "stock:read", "--expires", "2020-01-01")
    assert past == "--expires: must be in the future"


def test_a_user_is_invited_listed_and_disabled(shell: Program) -> None:
    add = ("customer", "add", "--email", "owner@shop.example", "--first-name", "Ada", "--last-name", "Buyer")
    customer_id = str(shell.json(*add)["id"])
    invited = shell.json("user", "invite", customer_id, "buyer@shop.example", "--role", "buyer")
    assert set(invited) == {"email", "role", "link"}
    users = shell.json("user", "list", customer_id)
    assert [(user["email"], user["role"]) for user in users] == [
        ("owner@shop.example", "owner"),
        ("buyer@shop.example", "buyer"),
    ]
    for _ in range(2):
        assert shell.json("user", "disable", "buyer@shop.example") == {"email": "buyer@shop.example", "disabled": True}
    assert len(shell.json("audit", "--action", "user.disable")) == 1
    assert shell.error("user", "disable", "no@shop.example") == "user no@shop.example not found"
    assert shell.error("user", "list", "999999") == "customer 999999 not found"
    other = ("customer", "add", "--email", "two@shop.example", "--first-name", "T", "--last-name", "Wo")
    second = str(shell.json(*other)["id"])
    taken = shell.error("user", "invite", second, "owner@shop.example", "--role", "owner")
    assert taken == "email: owner@shop.example is a user of another customer"
