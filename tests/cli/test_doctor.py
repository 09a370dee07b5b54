"""`tradecounter doctor`: what it finds of a whole installation, and of one with each part missing or wrong."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from aiosmtpd.smtp import AuthResult

from support.billing import invoiced, number_of
from support.cluster import Cluster
from support.command_line import SECRET, Forker, Program
from support.issuer import running_issuer
from support.mail import free_port, mail_server, running_worker
from support.orders import buy, rows
from support.service import Service
from support.waiting import wait_for
from tradecounter.db.transaction import Transaction
from tradecounter.installation.checks.check import Check
from tradecounter.installation.checks.of_database import check_contents
from tradecounter.kit.clock import FrozenClock

pytestmark = pytest.mark.sweep  # seconds for each of its stories

NAMES = [
    "settings", "examples", "https", "seller", "database", "schema", "clock", "worker", "queue", "failed_jobs",
    "credit", "stock", "invoice_numbers", "credit_note_numbers", "wal_archive", "base_backup", "secret_key",
    "issuer_keys", "disk", "replica", "mail", "issuer", "snapshot", "backoffice", "ready",
]  # fmt: skip
SETTINGS = {
    "TRADECOUNTER_SECRET_KEY": SECRET,
    "TRADECOUNTER_MAIL_FROM": "Orders <orders@shop.example>",
    "TRADECOUNTER_SUPPORT_EMAIL": "support@shop.example",
    "TRADECOUNTER_SELLER_NAME": "Shop Ltd",
    "TRADECOUNTER_SELLER_ADDRESS": "1 High Street, Leeds",
    "TRADECOUNTER_SELLER_VAT_NUMBER": "GB123456782",
}


@pytest.fixture(scope="module")
def installation(shop: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Iterator[Program]:
    """The program with all its settings, and everything that they name running."""
    buyer = shop.customer()
    invoiced(shop, buyer)
    buy(buyer, [("SWITCH", 5)])
    with mail_server() as inbox, running_issuer() as issuer, running_worker(shop, inbox.url):
        wait_for(lambda: rows(shop, "select id from procrastinate_workers"))
        found = {
            **SETTINGS,
            "TRADECOUNTER_SMTP_URL": inbox.url,
            "TRADECOUNTER_AUTH_URL": issuer.url,
            "TRADECOUNTER_BASE_URL": shop.url,
        }
        yield Program(tmp_path_factory.mktemp("doctor"), shop.database_url, forker, found)


def ill(program: Program, **environment: str) -> dict[str, dict[str, Any]]:
    """What the doctor finds wrong, by name; each has to come with a remedy, and all in one line of the reason."""
    done = program.run("doctor", "--json", **environment)
    found = done.document
    wrong = {check["name"]: check for check in found["checks"] if not check["ok"]}
    assert all(check["remedy"] for check in wrong.values())
    assert all(check["remedy"] is None for check in found["checks"] if check["ok"])
    assert (found["ok"], done.status) == (not wrong, 1 if wrong else 0)
    if wrong:
        assert done.err.splitlines()[-1] == (
            f"error: {len(wrong)} of {len(found['checks'])} checks failed: {', '.join(wrong)}"
        )
    return wrong


@contextmanager
def broken(service: Service, *statements: LiteralString, mended: LiteralString) -> Iterator[None]:
    """Change tables past the program while the block runs."""
    with psycopg.connect(service.database_url, autocommit=True) as database:
        for statement in statements:
            database.execute(statement)
        try:
            yield
        finally:
            database.execute(mended)


def test_a_logo_that_cannot_be_read_is_found(installation: Program) -> None:
    found = ill(installation, TRADECOUNTER_SELLER_LOGO="missing.png")
    assert found.keys() == {"seller", "mail"}
    assert found["seller"]["message"] == (
        "TRADECOUNTER_SELLER_LOGO: missing.png cannot be read: No such file or directory"
    )
    assert found["seller"]["remedy"] == "correct it: the back office and the worker do not start until then"
    assert found["mail"]["message"] == found["seller"]["message"]
    assert found["mail"]["remedy"] == "correct this setting; e-mails wait until then"


def test_missing_seller_settings_are_listed(installation: Program) -> None:
    message = next(c["message"] for c in installation.json("doctor")["checks"] if c["name"] == "seller")
    assert "TRADECOUNTER_SELLER_BANK" in message
    assert "TRADECOUNTER_SELLER_NAME" not in message


def test_a_complete_installation_passes_all_checks(installation: Program) -> None:
    found = installation.json("doctor")
    assert found["ok"] is True
    assert [check["name"] for check in found["checks"]] == NAMES
    assert {tuple(check) for check in found["checks"]} == {("name", "ok", "message", "remedy")}
    lines = installation.text("doctor").splitlines()
    assert [line.split()[:2] for line in lines] == [["name", "ok"], *([name, "yes"] for name in NAMES)]


def test_settings_that_are_unknown_or_examples_are_named(installation: Program) -> None:
    found = ill(installation, TRADECOUNTER_BASE_ULR="x", TRADECOUNTER_SUPPORT_EMAIL="help@localhost")
    assert found.keys() == {"settings", "examples"}
    assert "TRADECOUNTER_BASE_ULR (did you mean TRADECOUNTER_BASE_URL?)" in found["settings"]["message"]
    assert found["examples"]["message"] == "still an example, or not set: TRADECOUNTER_SUPPORT_EMAIL"


def test_addresses_at_which_nobody_can_sign_in_are_named(installation: Program) -> None:
    plain = {"TRADECOUNTER_BASE_URL": "http://shop.example", "TRADECOUNTER_BACKOFFICE_URL": "http://10.0.0.5:8001"}
    found = ill(installation, **plain)["https"]
    assert found["message"] == (
        "nobody can sign in over plain HTTP: TRADECOUNTER_BASE_URL, TRADECOUNTER_BACKOFFICE_URL"
    )
    assert "https://" in found["remedy"]


def test_an_invalid_setting_ends_the_checks(installation: Program) -> None:
    found = ill(installation, TRADECOUNTER_VAT_RATE="lots")
    assert found["settings"]["message"] == "TRADECOUNTER_VAT_RATE: 'lots' is not a number"


def test_a_missing_secret_is_a_wrong_setting(installation: Program) -> None:
    found = ill(installation, TRADECOUNTER_SECRET_KEY="")
    assert found["settings"]["message"].startswith("TRADECOUNTER_SECRET_KEY: is required")


def test_an_unreachable_database_is_found_and_the_services_are_checked(installation: Program) -> None:
    away = f"postgresql://user:hunter2@127.0.0.1:{free_port()}/shop"
    found = ill(installation, TRADECOUNTER_DATABASE_URL=away)
    assert found.keys() == {"database"}
    assert found["database"]["message"].startswith("the database cannot be reached: ")
    assert "hunter2" not in str(found)


def test_a_schema_that_is_not_current_is_reported(installation: Program, postgres: Cluster) -> None:
    with postgres.empty_database() as url:
        found = ill(installation, TRADECOUNTER_DATABASE_URL=url)
    assert found.keys() == {"schema"}
    assert "db upgrade" in found["schema"]["remedy"]


def test_without_a_database_it_reports_that_and_creates_none(tmp_path: Path, forker: Forker) -> None:
    nowhere = Program(tmp_path, None, forker, {**SETTINGS, "TRADECOUNTER_SECRET_KEY": ""})
    found = ill(nowhere)
    assert found["database"]["message"].startswith(f"there is no database in {tmp_path / '.tradecounter'}: ")
    assert found["database"]["remedy"] == "run this in the folder of the database, or set TRADECOUNTER_DATABASE_URL"
    assert not (tmp_path / ".tradecounter").exists()


def test_an_unreachable_or_rejecting_mail_server_is_found_and_gets_no_mail(installation: Program) -> None:
    away = ill(installation, TRADECOUNTER_SMTP_URL=f"smtp://user:hunter2@127.0.0.1:{free_port()}")
    assert away["mail"]["message"].startswith("the mail server cannot be reached: ")
    with mail_server(
        login="user:hunter2@", authenticator=lambda *_: AuthResult(success=False, handled=False), auth_require_tls=False
    ) as inbox:
        error = ill(installation, TRADECOUNTER_SMTP_URL=inbox.url.replace("smtp://", "smtp+plain://"))
    assert error["mail"]["message"] == "the mail server rejects the user and password: 535"
    assert "hunter2" not in str([away, error])
    with mail_server() as inbox:
        assert ill(installation, TRADECOUNTER_SMTP_URL=inbox.url) == {}
    assert inbox.started == 0


def test_an_issuer_that_cannot_be_used_is_reported(installation: Program) -> None:
    found = ill(installation, TRADECOUNTER_AUTH_URL=f"http://127.0.0.1:{free_port()}")
    assert found.keys() == {"issuer"}


def test_the_own_issuer_is_read_as_clients_read_it(installation: Program) -> None:
    assert ill(installation, TRADECOUNTER_AUTH_URL="") == {}
    nowhere = f"http://127.0.0.1:{free_port()}"
    away = ill(installation, TRADECOUNTER_AUTH_URL="", TRADECOUNTER_BASE_URL=nowhere)
    assert away.keys() == {"issuer", "snapshot"}
    assert f"{nowhere}/auth: " in away["issuer"]["message"]


def test_a_lost_key_of_the_own_issuer_is_reported(installation: Program) -> None:
    installation.json("issuer", "rotate")
    found = ill(installation, TRADECOUNTER_AUTH_URL="", TRADECOUNTER_SECRET_KEY="t" * 64)
    assert "issuer_keys" in found
    assert "issuer rotate" in found["issuer_keys"]["remedy"]
    assert ill(installation, TRADECOUNTER_AUTH_URL="") == {}


def test_an_api_without_a_response_or_with_problems_is_reported(installation: Program) -> None:
    away = ill(installation, TRADECOUNTER_BASE_URL=f"http://127.0.0.1:{free_port()}")
    assert away.keys() == {"snapshot"}
    for status, body, said in (
        (200, b'{"status": "degraded", "database": "ok"}', "status degraded, database ok"),
        (200, b'{"status": "ok", "database": "away"}', "status ok, database away"),
        (200, b"<html>", "DecodeError"),
        (502, b"", "responds with status 502"),
    ):
        with api_returning(status, body) as url:
            found = ill(installation, TRADECOUNTER_BASE_URL=url)
        assert said in found["snapshot"]["message"]


def test_a_back_office_without_a_response_is_reported(installation: Program) -> None:
    away = ill(installation, TRADECOUNTER_BACKOFFICE_URL=f"http://127.0.0.1:{free_port()}")
    assert away.keys() == {"backoffice"}
    assert "tradecounter backoffice" in away["backoffice"]["remedy"]
    with api_returning(200, b'{"status": "degraded", "database": "ok", "writes": false}') as url:
        found = ill(installation, TRADECOUNTER_BACKOFFICE_URL=url)
    assert "which cannot write" in found["backoffice"]["message"]
    for status, body in ((200, b'{"status": "ok", "database": "ok", "writes": true}'), (403, b"{}")):
        with api_returning(status, body) as url:
            assert ill(installation, TRADECOUNTER_BACKOFFICE_URL=url) == {}


def test_a_database_without_an_archive_has_no_backups(installation: Program) -> None:
    [found] = [check for check in installation.json("doctor")["checks"] if check["name"] == "base_backup"]
    assert found["message"].startswith("no backups")


@contextmanager
def api_returning(status: int, body: bytes) -> Iterator[str]:
    """A server in the API's place that returns the same response to every request."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(timeout=10)
        server.server_close()


def test_failed_and_overdue_jobs_are_counted(installation: Program, shop: Service) -> None:
    with broken(
        shop,
        "insert into procrastinate_jobs (queue_name, task_name, status)"
        " values ('default', 'mail_order_confirmed', 'failed'), ('default', 'mail_order_confirmed', 'failed')",
        "insert into procrastinate_jobs (queue_name, task_name, scheduled_at)"
        " values ('nobody', 'mail_order_confirmed', now() + interval '1 hour')",
        mended="delete from procrastinate_jobs",
    ):
        found = ill(installation)
        assert found.keys() == {"failed_jobs", "queue"} or found.keys() == {"failed_jobs"}
        assert found["failed_jobs"]["message"] == "2 of mail_order_confirmed"


def test_without_a_worker_the_age_of_due_jobs_is_reported(postgres: Cluster, tmp_path: Path, forker: Forker) -> None:
    with postgres.database() as url:
        alone = Program(tmp_path, url, forker, SETTINGS)
        assert ill(alone)["worker"]["message"] == "no heartbeat"
        with psycopg.connect(url, autocommit=True) as database:
            database.execute("insert into procrastinate_workers (last_heartbeat) values ('2026-06-16 08:00:00+00')")
            database.execute(
                "insert into procrastinate_jobs (queue_name, task_name, scheduled_at)"
                " values ('default', 'mail_order_confirmed', now() - interval '4 minutes'),"
                " ('default', 'mail_order_confirmed', now() + interval '1 hour')"
            )
        found = ill(alone)
        assert found["worker"]["message"] == "no heartbeat since 2026-06-16 08:00:00 UTC"
        assert "queue" not in found
        with psycopg.connect(url, autocommit=True) as database:
            database.execute("update procrastinate_jobs set scheduled_at = scheduled_at - interval '5 minutes'")
        message = ill(alone)["queue"]["message"]
        assert message.startswith("1 due, the oldest for 0:09:0")
        assert message.endswith("; 1 scheduled for later")


def test_a_clock_that_is_wrong_is_reported(shop: Service) -> None:
    def clock(moment: datetime) -> Check:
        async def work(tx: Transaction) -> list[Check]:
            return await check_contents(tx, FrozenClock(moment))

        return shop.in_transaction(work)[0]

    now = datetime.now(UTC)
    assert clock(now).ok
    for step in (timedelta(minutes=5), timedelta(minutes=-5)):
        assert not clock(now + step).ok
        assert "seconds from the database's" in clock(now + step).message


def test_credit_that_differs_from_the_orders_is_reported_by_customer(installation: Program, shop: Service) -> None:
    buyer = shop.customer()
    buy(buyer)
    change = (
        "update credit_exposure set outstanding = outstanding + 1 where customer_id = (select max(id) from customer)"
    )
    mend = "update credit_exposure set outstanding = outstanding - 1 where customer_id = (select max(id) from customer)"
    with broken(shop, change, mended=mend):
        found = ill(installation)
    assert found.keys() == {"credit"}
    assert f"customer {buyer.id} 67.60 instead of 66.60" in found["credit"]["message"]


def test_credit_without_any_order_is_reported(installation: Program, shop: Service) -> None:
    buyer = shop.customer()
    insert = "insert into credit_exposure select max(id), 5 from customer"
    with broken(shop, insert, mended="delete from credit_exposure where outstanding = 5"):
        assert f"customer {buyer.id} 5.00 instead of 0" in ill(installation)["credit"]["message"]


@pytest.mark.parametrize("column", ["allocated", "back_ordered"])
def test_stock_that_differs_from_orders_is_reported_by_sku(installation: Program, shop: Service, column: str) -> None:
    changes: dict[str, tuple[LiteralString, LiteralString]] = {
        "allocated": (
            "update stock_level set allocated = allocated + 7",
            "update stock_level set allocated = allocated - 7",
        ),
        "back_ordered": (
            "update stock_level set back_ordered = back_ordered + 7",
            "update stock_level set back_ordered = back_ordered - 7",
        ),
    }
    change, mend = changes[column]
    with broken(shop, change, mended=mend):
        found = ill(installation)
    assert found.keys() == {"stock"}
    for sku in ("CABLE", "PHONE", "SWITCH"):
        assert f"{sku}: " in found["stock"]["message"]


def test_missing_invoice_numbers_are_reported(installation: Program, shop: Service) -> None:
    last = "update invoice_number set last = last + 3"
    with broken(shop, last, mended="update invoice_number set last = last - 3"):
        found = ill(installation)
    assert found.keys() == {"invoice_numbers"}
    assert found["invoice_numbers"]["message"] == "missing: 10002 to 10004"


def test_missing_numbers_of_credit_notes_are_reported(installation: Program, shop: Service) -> None:
    customer = shop.customer()
    credited = number_of(shop, invoiced(shop, customer))
    installation.json("credit-note", "add", str(credited), "--amount", "1", "--reason", "a test")
    [(last,)] = rows(shop, "select last from credit_note_number")
    gap = "update credit_note_number set last = last + 1"
    with broken(shop, gap, mended="update credit_note_number set last = last - 1"):
        found = ill(installation)
    assert found.keys() == {"credit_note_numbers"}
    assert found["credit_note_numbers"]["message"] == f"missing: {last + 1}"
