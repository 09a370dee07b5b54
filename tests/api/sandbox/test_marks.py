"""A sandbox's documents, e-mails and raw answers cannot be taken for real ones."""

import asyncio
import io
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import EmailMessage
from urllib.parse import urlsplit

import pytest
from pypdf import PdfReader

from support.cluster import Cluster
from support.orders import buy
from support.sandbox import live, running_sandbox
from support.service import Service
from tradecounter.notifications.mail import Mail
from tradecounter.notifications.transport import SandboxMail


@pytest.fixture(scope="module")
def sandbox(postgres: Cluster) -> Iterator[Service]:
    with postgres.database() as url, running_sandbox(url) as service:
        yield service


def test_each_page_of_an_invoice_says_that_it_is_none(sandbox: Service) -> None:
    customer = sandbox.customer()
    placed = buy(customer)
    for _ in range(4):
        live(sandbox)
    invoice = customer.get(f"/order/{placed['order_reference']}/invoice", headers={"Accept": "application/pdf"})
    assert invoice.status_code == 200
    for page in PdfReader(io.BytesIO(invoice.content)).pages:
        assert "SANDBOX \N{EN DASH} not an invoice" in page.extract_text()


def test_an_unreadable_request_gets_the_header_too(sandbox: Service) -> None:
    parts = urlsplit(sandbox.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=5) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        assert b"x-sandbox: true" in connection.recv(65536).lower()


class Kept:
    def __init__(self) -> None:
        self.mails: list[Mail] = []

    async def send(self, mail: Mail) -> None:
        self.mails.append(mail)


@pytest.mark.parametrize(
    ("recipients", "sent"),
    [(("Dev@shop.example",), True), (("a@b.example",), False), (("dev@shop.example", "a@b.example"), False)],
)
def test_only_addresses_of_the_list_get_mail(recipients: tuple[str, ...], sent: bool) -> None:
    server, folder = Kept(), Kept()
    mail = Mail("name", datetime(2026, 6, 16, tzinfo=UTC), "a@b.example", recipients, EmailMessage())
    asyncio.run(SandboxMail(server, folder, frozenset({"dev@shop.example"})).send(mail))
    assert (len(server.mails), len(folder.mails)) == ((1, 0) if sent else (0, 1))
