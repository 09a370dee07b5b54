"""`sandbox refresh`: what it needs, and what it says."""

from pathlib import Path

from support.cluster import Cluster
from support.command_line import Forker, Program
from support.service import Service


def test_a_sandbox_is_filled_from_the_live_database_and_says_what_changed(
    shop: Service, postgres: Cluster, tmp_path: Path, forker: Forker
) -> None:
    customer, source = shop.customer(), shop.database_url
    with postgres.database() as url:
        sandbox = Program(tmp_path, url, forker, {"TRADECOUNTER_SANDBOX": "true"})
        assert sandbox.error("sandbox", "refresh").startswith("name the live database with --from")
        assert "must be true" in sandbox.error("sandbox", "refresh", "--from", source, TRADECOUNTER_SANDBOX="false")
        changed = sandbox.json("sandbox", "refresh", "--from", source)
        assert (changed["product"], changed["customer"]) == (3, 1)
        again = sandbox.text("sandbox", "refresh", TRADECOUNTER_SANDBOX_SOURCE=source)
        assert again == "0 rows changed\n"
        [found] = sandbox.json("customer", "list")
        assert (found["id"], found["first_name"]) == (customer.id, "Customer")
