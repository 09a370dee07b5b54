"""`tradecounter app`."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from support.cluster import Cluster
from support.command_line import Forker, Program

pytestmark = pytest.mark.long

UNKNOWN = "no-such-application"


@pytest.fixture
def shell(postgres: Cluster, tmp_path: Path, forker: Forker) -> Iterator[Program]:
    with postgres.database() as url:
        yield Program(tmp_path, url, forker)


def test_an_application_is_created_listed_and_disabled(shell: Program) -> None:
    made = shell.json("app", "add", "ERP of Harbourline")
    assert set(made) == {"client_id", "client_secret"}
    assert len(made["client_secret"]) == 64
    [listed] = shell.json("app", "list")
    assert (listed["client_id"], listed["name"]) == (made["client_id"], "ERP of Harbourline")
    assert set(listed) == {"client_id", "name", "redirect_uris", "created_at", "disabled_at"}
    assert listed["disabled_at"] is None
    assert shell.json("app", "disable", made["client_id"]) == {"client_id": made["client_id"], "disabled": True}
    [disabled] = shell.json("app", "list")
    assert disabled["disabled_at"] is not None
    assert "is disabled" in shell.text("app", "disable", made["client_id"])
    assert len(shell.json("audit", "--subject", made["client_id"], "--action", "application.disable")) == 1
    assert shell.json("app", "list") == [disabled], "the first time counts"


def test_redirect_uris_are_registered_and_replaced(shell: Program) -> None:
    first, second = "https://erp.example/callback", "http://localhost:8080/back?from=tradecounter"
    client_id = shell.json("app", "add", "ERP", "--redirect-uri", first, "--redirect-uri", second)["client_id"]
    assert shell.json("app", "list")[0]["redirect_uris"] == [first, second]
    assert shell.json("app", "edit", client_id[:8], "--name", "New")["redirect_uris"] == [first, second]
    assert "is changed" in shell.text("app", "edit", client_id, "--redirect-uri", second)
    [listed] = shell.json("app", "list")
    assert (listed["name"], listed["redirect_uris"]) == ("New", [second])
    assert "at least one option is required" in shell.misused("app", "edit", client_id)
    assert shell.error("app", "edit", UNKNOWN, "--name", "x") == f"application {UNKNOWN} not found"


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("http://erp.example/", "must start with https:// and a host"),
        ("ftp://erp.example/", "must start with https:// and a host"),
        ("myapp:/callback", "must start with https:// and a host"),
        ("javascript:alert(1)", "must start with https:// and a host"),
        ("https://", "must start with https:// and a host"),
        ("https://erp.example/#part", "must have no fragment"),
        ("https://erp.example/#", "must have no fragment"),
        ("https://user@erp.example/", "must be a plain URL"),
        ("https://erp.example@evil.example/", "must be a plain URL"),
        ("https://ERP.example/", "must be a plain URL"),
        ("https://erp.example/a b", "must be a plain URL"),
        ("https://erp.example/;form-action", "must be a plain URL"),
        ("https://*.example/", "must be a plain URL"),
        ("https://erp.example\\@evil.example/", "must be a plain URL"),
        ("https://erp.example/a/../b", "must have no . or .."),
    ],
)
def test_a_redirect_uri_must_be_a_plain_safe_url(shell: Program, uri: str, problem: str) -> None:
    error = shell.error("app", "add", "ERP", "--redirect-uri", uri)
    assert error.startswith("--redirect-uri: ")
    assert problem in error
    assert shell.json("app", "list") == []


def test_the_secret_is_printed_only_at_creation(shell: Program) -> None:
    text = shell.text("app", "add", "Shop")
    secret = next(line.split()[-1] for line in text.splitlines() if line.startswith("client secret"))
    assert secret not in shell.text("app", "list")
    assert "Shop" in shell.text("app", "list")


def test_revoking_counts_tokens_and_needs_both_to_exist(shell: Program) -> None:
    client_id = shell.json("app", "add", "Revoked")["client_id"]
    add = ("customer", "add", "--email", "a@b.example", "--first-name", "Ada", "--last-name", "Buyer")
    customer_id = shell.json(*add)["id"]
    assert shell.json("app", "revoke", client_id, str(customer_id)) == {
        "client_id": client_id,
        "customer_id": customer_id,
        "revoked": 0,
    }
    assert shell.error("app", "revoke", UNKNOWN, str(customer_id)) == f"application {UNKNOWN} not found"
    assert shell.error("app", "revoke", client_id, "999999") == "customer 999999 not found"


def test_a_client_id_may_be_shortened_to_a_unique_prefix(shell: Program) -> None:
    one, two = (shell.json("app", "add", name)["client_id"] for name in ("One", "Two"))
    similar = [f"beef{number}".ljust(32, "0") for number in range(2)]
    with psycopg.connect(str(shell.url), autocommit=True) as database:
        for client_id, new in zip((one, two), similar, strict=True):
            database.execute("update application set client_id = %s where client_id = %s", [new, client_id])
    error = shell.error("app", "disable", "beef")
    assert error == f"beef is ambiguous: several client ids begin with it: {', '.join(similar)}"
    assert shell.json("app", "disable", "BEEF1") == {"client_id": similar[1], "disabled": True}
    assert shell.error("app", "disable", "bee") == "application bee not found"


def test_an_unknown_application_cannot_be_disabled(shell: Program) -> None:
    assert shell.error("app", "disable", UNKNOWN) == f"application {UNKNOWN} not found"
    shell.misused("app", "add")
