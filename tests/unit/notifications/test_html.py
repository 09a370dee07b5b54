"""HTML e-mails: for narrow and dark screens, with the seller at the top, without external resources."""

import email
import email.policy
import re
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from support.images import png
from tradecounter.letterhead.seller import LARGEST_LOGO, Letterhead, Seller, letterhead_from, read_logo
from tradecounter.notifications.context import render
from tradecounter.notifications.mail import Letter, make_mail
from tradecounter.settings import Settings, SettingsError

NOW = datetime(2026, 6, 16, 8, 0, tzinfo=UTC)
SELLER = Seller(
    "Seller & Sons",
    ["7 Sales Street", "York"],
    "GB123456782",
    email="sales@seller.example",
    phone="+44 1904 496 0000",
    company_number="01234567",
    registered_office="8 Office Row, York",
)
TEMPLATES = Path(render.__code__.co_filename).parent / "templates"


def invoice_mail(letterhead: Letterhead) -> EmailMessage:
    settings = {"letterhead": letterhead, "support": {"addr_spec": "help@seller.example"}}
    order: dict[str, Any] = {"order_reference": "ORD-1", "customer_reference": "PO-1"}
    invoice = {
        **order,
        "number": 10001,
        "issued_at": NOW,
        "due_at": NOW,
        "gross": 12,
        "paid": 0,
        "credited": 0,
        "due": 12,
    }
    text, html = render(
        "invoice",
        subject="Invoice",
        invoice=invoice,
        settings=settings,
        bank=["A bank", "12"],
        is_copy=False,
    )
    sender = Address("", "seller", "seller.example")
    sent = make_mail(
        Letter(subject="Invoice", text=text, html=html, logo=letterhead.logo),
        name="invoice-1", installation="0123", happened=NOW, now=NOW, sender=sender, to=[sender], reply_to=None,
    )  # fmt: skip
    return email.message_from_bytes(sent.message.as_bytes(), policy=email.policy.default)


def body(mail: EmailMessage, kind: str) -> str:
    part = mail.get_body((kind,))
    assert part is not None
    return str(part.get_content())


def test_a_mail_fits_narrow_and_dark_screens() -> None:
    html = body(invoice_mail(Letterhead(SELLER)), "html")
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in html
    assert '<meta name="color-scheme" content="light dark">' in html
    assert "@media (prefers-color-scheme: dark)" in html
    assert "@media (max-width: 520px)" in html


def test_both_parts_show_the_seller() -> None:
    mail = invoice_mail(Letterhead(SELLER))
    html, text = body(mail, "html"), body(mail, "plain")
    assert '<span class="seller">Seller &amp; Sons</span>' in html
    for fact in (
        "7 Sales Street, York", "sales@seller.example", "+44 1904 496 0000", "VAT number GB123456782",
        "ompany number 01234567", "Registered office: 8 Office Row, York", "A bank", "quote invoice number 10001",
    ):  # fmt: skip
        assert fact in html
        assert fact in text


def test_a_logo_is_embedded_at_the_top_of_the_mail(tmp_path: Path) -> None:
    path = tmp_path / "logo.png"
    path.write_bytes(png(4, 2))
    mail = invoice_mail(Letterhead(SELLER, read_logo(path)))
    html = body(mail, "html")
    [image] = [part for part in mail.walk() if part.get_content_type() == "image/png"]
    assert image.get_content() == png(4, 2)
    assert f'<img class="logo" src="cid:{image["Content-ID"][1:-1]}" alt="Seller &amp; Sons"' in html
    assert body(mail, "plain")


@pytest.mark.parametrize("template", sorted(path.name for path in TEMPLATES.glob("*.html")))
def test_a_mail_fetches_no_resources_and_runs_no_scripts(template: str) -> None:
    source = (TEMPLATES / template).read_text()
    assert not re.search(r"<script|<link|url\(|@import|src=\"(?!cid:)", source)


def test_every_mail_has_a_text_part_with_the_same_name() -> None:
    assert {path.stem for path in TEMPLATES.glob("*.html")} == {path.stem for path in TEMPLATES.glob("*.txt")}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<svg/>", "is neither a PNG nor a JPEG file"),
        (png(4, 2)[:40], "is damaged"),
        (png(4, 2) + bytes(LARGEST_LOGO), "is larger than 256 KiB"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_logo_that_cannot_be_shown_is_rejected(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "logo.png"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=f"^TRADECOUNTER_SELLER_LOGO: .*{reason}"):
        letterhead_from(Settings(seller_logo=path))
