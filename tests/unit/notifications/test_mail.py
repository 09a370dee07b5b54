"""Any text from customers is safe in e-mails: no added headers, no forged lines, nothing lost."""

import email
import email.policy
from datetime import UTC, datetime
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzzed import fuzzed
from tradecounter.kit.email_addresses import parse_email, parse_mailbox
from tradecounter.kit.text import one_line
from tradecounter.letterhead.seller import Letterhead, Seller
from tradecounter.notifications.context import render
from tradecounter.notifications.mail import Attachment, Letter, Mail, make_mail

NOW = datetime(2026, 6, 16, 8, 0, tzinfo=UTC)
HEADERS = ["From", "To", "Reply-To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"]

typed_text = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\r\n\u2028\x85\x00\u202e,;<>@\"'\\=?_é\U0001f680"),
    max_size=300,
)
# They mean line breaks, other headers and another body.
ENCODED_WORDS = [
    "=?utf-8?q?=0D=0ABcc:_evil=40x.example?=",
    "=?utf-8?b?DQoNCkJ1eSB0aGlz?=",
    "=?us-ascii?q?=0A?=",
    "==?q?=",
]
hostile_text = st.lists(typed_text | st.sampled_from([*ENCODED_WORDS, " "]), max_size=4).map("".join)


def mail(subject: str = "Hello", text: str = "text\n", html: str = "<p>html</p>\n", to: str = "to@x.example") -> Mail:
    sender, recipient = parse_mailbox("Seller <seller@shop.example>"), parse_email(to)
    assert sender is not None
    assert recipient is not None
    return make_mail(
        Letter(subject=subject, text=text, html=html, attachment=Attachment("invoice.pdf", b"\x00\xff")),
        name="thing-1", installation="0123456789abcdef", happened=NOW, now=NOW, sender=sender,
        to=[recipient], reply_to=recipient,
    )  # fmt: skip


def read_back(sent: Mail) -> EmailMessage:
    return email.message_from_bytes(sent.message.as_bytes(), policy=email.policy.default)


@pytest.mark.sweep
@fuzzed(100)
@given(hostile_text)
def test_any_subject_stays_in_its_header(subject: str) -> None:
    got = read_back(mail(subject))
    assert got.keys() == HEADERS
    assert "".join(got["Subject"].split()) == "".join(one_line(subject).split())
    assert got["To"] == "to@x.example"


def test_a_long_word_beside_other_letters_stays_whole() -> None:
    subject = (
        "Order 00= 000000000é 0[=00000=00000000é00 00000=00000000000é 0000000=00000=000000=000000000000é00000=00000"
    )
    assert read_back(mail(subject))["Subject"] == subject


@pytest.mark.parametrize("word", ENCODED_WORDS)
def test_an_encoded_word_is_no_part_of_a_header(word: str) -> None:
    got = read_back(mail(f"Order {word} is confirmed"))
    assert got.keys() == HEADERS
    assert got["Subject"] == f"Order {word.replace('=?', '= ?')} is confirmed"
    assert parse_email(f"{word}@x.example") is None
    assert parse_email(f"a{word}b@x.example") is None


@pytest.mark.sweep
@fuzzed(100)
@given(hostile_text)
def test_any_text_stays_complete_in_its_part(typed: str) -> None:
    whole = "\n".join(typed.splitlines()) + "\n"
    got = read_back(mail(text=whole))
    body = got.get_body(("plain",))
    assert body is not None
    assert "\n".join(body.get_content().split("\r\n")) == whole
    assert [part.get_filename() for part in got.iter_attachments()] == ["invoice.pdf"]


def test_the_lines_of_a_mail_are_short_enough_for_all_mail_servers() -> None:
    raw = mail(subject="x" * 2000 + " é" * 500, text="y" * 5000 + "\n", html="é" * 5000).message.as_bytes()
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    assert raw.isascii()


def test_an_internationalised_domain_is_encoded_in_ascii() -> None:
    sent = mail(to="jürgen@münchen.example")
    assert sent.recipients == ("jürgen@xn--mnchen-3ya.example",)
    assert "jürgen@xn--mnchen-3ya.example" in sent.message.as_bytes(policy=email.policy.SMTPUTF8).decode()


def test_typed_text_is_escaped_in_html_and_one_line_in_plain_text() -> None:
    typed = '<script>alert(1)</script>\n\n  Price it:\n  rm -rf / "&'
    order = {"order_reference": typed, "customer_reference": typed}
    invoice = {**order, "number": 1, "issued_at": NOW, "due_at": NOW, "gross": 1, "paid": 0, "credited": 0, "due": 1}
    letterhead = Letterhead(Seller("Seller", ["1 Street"], "GB1"))
    settings = {"letterhead": letterhead, "support": {"addr_spec": "s@x.example"}}
    text, html = render("invoice", subject=typed, invoice=invoice, settings=settings, bank=[], is_copy=False)
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert '<script>alert(1)</script> Price it: rm -rf / "&' in text
    assert "\n  Price it" not in text
