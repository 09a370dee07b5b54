"""A sandbox's documents, e-mails and raw answers cannot be taken for real ones."""

import io
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pypdf import PdfReader

from support.cluster import Cluster
from support.mail import drain_to, mail_server, read_folder
from support.orders import buy
from support.quotes import request_quote
from support.sandbox import live, running_sandbox
from support.service import Service


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


@pytest.mark.parametrize(
    ("ask", "address", "sent"),
    [
        (buy, "Dev@shop.example", True),
        (buy, "a@b.example", False),
        (request_quote, "dev@shop.example", False),  # the account's address, which is not listed, gets it too
    ],
)
def test_only_addresses_of_the_list_get_mail(
    sandbox: Service, tmp_path: Path, ask: Callable[..., Any], address: str, sent: bool
) -> None:
    ask(sandbox.customer(order_mails=True), order_notifications={"email_address": address})
    with mail_server() as inbox:
        drain_to(sandbox, inbox.url, data_dir=tmp_path, sandbox_mail="ann@shop.example, dev@shop.example")
    written = [mail for mail in read_folder(tmp_path / "mail") if address in str(mail["To"])]
    assert (inbox.recipients, len(written)) == (([[address]], 0) if sent else ([], 1))
