"""Mail in tests: draining the queue, mail servers on loopback, and what mails can be about."""

import asyncio
import email
import email.policy
import re
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.message import EmailMessage
from html import unescape
from pathlib import Path
from typing import Any

import psycopg
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from support.orders import rows
from support.service import Service
from tradecounter.db.jobs import JobName, queue
from tradecounter.db.transaction import Transaction
from tradecounter.sites.worker import drain, run_worker


def read_mail(path: Path) -> EmailMessage:
    return email.message_from_bytes(path.read_bytes(), policy=email.policy.default)


def read_folder(folder: Path) -> list[EmailMessage]:
    return [read_mail(path) for path in sorted(folder.glob("*.eml"))]


def deliver_mail(service: Service, **changed: Any) -> list[EmailMessage]:
    """Run all due jobs, with some settings changed; the mails that were sent, by the time of what they are about."""
    with tempfile.TemporaryDirectory() as folder:
        settings = replace(service.settings, data_dir=Path(folder), smtp_url=None, **changed)
        service.call(lambda: drain(settings, service.database_url, service.clock))
        return read_folder(Path(folder) / "mail")


def drain_to(service: Service, smtp_url: str, **changed: Any) -> None:
    """Run all due jobs, sending mails to a mail server, with some settings changed."""
    settings = replace(service.settings, smtp_url=smtp_url, **changed)
    service.call(lambda: drain(settings, service.database_url, service.clock))


@contextmanager
def running_worker(service: Service, smtp_url: str) -> Iterator[None]:
    """A worker that hands mails to a mail server while the block runs, then stops."""
    settings, stop = replace(service.settings, smtp_url=smtp_url), asyncio.Event()
    worker = asyncio.run_coroutine_threadsafe(
        run_worker(settings, service.database_url, service.clock, stop), service.loop
    )
    try:
        yield
    finally:
        service.loop.call_soon_threadsafe(stop.set)
        worker.result(timeout=30)


def jobs(service: Service) -> list[tuple[str, str, int]]:
    """Task, status and attempts of the mail jobs that are not done."""
    with psycopg.connect(service.database_url, autocommit=True) as database:
        return database.execute(
            "select task_name, status::text, attempts from procrastinate_jobs where task_name like 'mail%' order by id"
        ).fetchall()


def let_time_pass(service: Service) -> None:
    """Make every job due that waits to be tried again."""
    with psycopg.connect(service.database_url, autocommit=True) as database:
        database.execute("update procrastinate_jobs set scheduled_at = now() where status = 'todo'")


def forget_jobs(service: Service) -> None:
    with psycopg.connect(service.database_url, autocommit=True) as database:
        database.execute("delete from procrastinate_jobs")


def plain(mail: EmailMessage) -> str:
    return _part(mail, "plain")


def html(mail: EmailMessage) -> str:
    return _part(mail, "html")


def shown(mail: EmailMessage) -> str:
    """The text that the HTML part shows, on one line."""
    body = re.sub(r"<style>.*?</style>|<[^>]*>", " ", html(mail), flags=re.DOTALL)
    return " ".join(unescape(body).split())


def _part(mail: EmailMessage, kind: str) -> str:
    part = mail.get_body((kind,))
    assert part is not None
    text: str = part.get_content()
    return text.replace("\r\n", "\n")


@dataclass
class Inbox:
    """What a mail server took, and how it responds: by recipient, to the mail, and how long it takes."""

    url: str
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    responses: dict[str, str] = field(default_factory=dict)
    response: str = "250 OK"
    seconds: float = 0
    started: int = 0

    async def handle_RCPT(  # noqa: N802 the library's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        response = self.responses.get(address, "250 OK")
        if response.startswith("2"):
            envelope.rcpt_tos.append(address)
        return response

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 the same
        self.started += 1
        await asyncio.sleep(self.seconds)
        if self.response.startswith("2"):
            assert isinstance(envelope.content, bytes)
            self.mails.append(email.message_from_bytes(envelope.content, policy=email.policy.default))
            self.recipients.append(envelope.rcpt_tos)
        return self.response


class BrokenStartTls(Controller):
    """Runs a mail server that offers STARTTLS and then rejects it."""

    class Server(SMTP):
        async def smtp_STARTTLS(self, arg: str) -> None:  # noqa: N802 the library's name
            await self.push("454 TLS not available due to temporary reason")

    def factory(self) -> SMTP:
        return self.Server(self.handler, **self.SMTP_kwargs)


def free_port() -> int:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        return int(reserved.getsockname()[1])


@contextmanager
def mail_server(
    port: int | None = None,
    *,
    scheme: str = "smtp",
    login: str = "",
    host: str = "127.0.0.1",
    controller: type[Controller] = Controller,
    **options: Any,
) -> Iterator[Inbox]:
    """A mail server on loopback, by the name `host` in its URL; `options` are those of the library."""
    port = free_port() if port is None else port
    inbox = Inbox(f"{scheme}://{login}{host}:{port}")
    running = controller(inbox, hostname="127.0.0.1", port=port, **options)
    running.start()
    try:
        yield inbox
    finally:
        running.stop()


def queue_job(service: Service, job: JobName, **ids: int) -> None:
    """Queue one job in a transaction of its own."""

    async def queue_it(tx: Transaction) -> None:
        queue(tx, job, **ids)

    service.in_transaction(queue_it)


def send_for(service: Service, job: Any, **ids: int) -> list[EmailMessage]:
    """Queue one job and run all; the mails."""
    queue_job(service, job, **ids)
    return deliver_mail(service)


def message_id(service: Service, name: str) -> str:
    """The Message-ID of a mail of this installation by the mail's name."""
    [(installation,)] = rows(service, "select left(replace(id::text, '-', ''), 12) from installation")
    return f"<{name}.{installation}@localhost>"


def internal_id(service: Service, placed: dict[str, Any]) -> int:
    """The id of an order or a quote that mails and jobs name it by."""
    [(found,)] = rows(service, "select id from orders where confirmation_code = %s", placed["confirmation_code"])
    return int(found)
