"""Whatever customers call themselves and their orders, a real mail server gets the program's headers and recipients."""

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzzed import fuzzed
from support.mail import Inbox, drain_to, forget_jobs, mail_server
from support.service import Service, unused_client_address
from support.shop import ADDRESS, STANDARD, order
from tradecounter.kit.email_addresses import parse_email

pytestmark = pytest.mark.sweep

HEADERS = {"From", "To", "Reply-To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type",
           "Content-Transfer-Encoding"}  # fmt: skip
PARTS = [
    "\r\n", "\n", "\r", "\x00", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u202e", "\ud800", "Bcc: evil@x.example",
    "\nX-Injected: 1",
    ".\r\nMAIL FROM:<evil@x.example>", "=?utf-8?q?=0D=0ABcc:_evil=40x.example?=", "=?utf-8?b?DQpYOiAx?=", ",", ";",
    "<", ">",
    "evil@x.example", '"', "\\", "(", ")", "{{7*7}}", "%0d%0a", "é", "\U0001f680", "a" * 80, " ", "Ada", "\t", "&",
    "<b>",
]  # fmt: skip
_numbers = itertools.count(1)
texts = st.lists(st.sampled_from(PARTS) | st.text(max_size=4), min_size=1, max_size=4).map("".join)
addresses = st.builds(
    "{}@{}".format,
    st.sampled_from(
        [
            "ada",
            "a.b+c",
            "jürgen",
            "a\nb",
            '"a b"',
            "a,b",
            "",
            "<a",
            "a\r\nRCPT TO:<evil",
            "=?utf-8?q?=0D=0ABcc=3A_evil=40x?=",
            "=?utf-8?q?evil=40x=2Eexample=2C?=",
        ]
    ),
    st.sampled_from(
        ["x.example", "münchen.example", "x.example\r\nBcc: y@z.example", "x.example>", "-", "[127.0.0.1]", "x\x00.y"]
    ),
)


@pytest.fixture(scope="module")
def inbox() -> Iterator[Inbox]:
    with mail_server(enable_SMTPUTF8=True) as running:
        yield running


@fuzzed(25)
@given(name=texts, company=texts, reference=texts, address=addresses, asks=st.booleans())
def test_no_text_of_a_customer_adds_headers_or_recipients(
    shop: Service, inbox: Inbox, name: str, company: str, reference: str, address: str, asks: bool
) -> None:
    where = {**ADDRESS, "contact_name": name, "company_name": company}
    owner = f"owner{next(_numbers)}@shop.example"
    customer = shop.customer(email_address=owner, order_mails=True)
    body = {
        **order(customer_reference=reference, auto_confirm=not asks),
        "shipping_address": where,
        "billing_address": where,
        "order_notifications": {"email_address": address},
        **({} if asks else {"shipping_method": {"id": STANDARD}}),
    }
    headers = {"X-Forwarded-For": unused_client_address()}
    try:
        response = customer.post("/quote" if asks else "/order", body, headers=headers)
    except UnicodeEncodeError:  # a lone surrogate, which the client cannot send
        return
    assert response.status_code in {201, 400}, response.text
    inbox.mails.clear()
    inbox.recipients.clear()
    drain_to(shop, inbox.url)
    forget_jobs(shop)
    assert bool(inbox.mails) == (response.status_code == 201)
    parsed = parse_email(address)
    known = {owner, shop.settings.support_email, *([parsed.addr_spec] if parsed else [])}
    for mail, recipients in zip(inbox.mails, inbox.recipients, strict=True):
        assert set(mail.keys()) <= HEADERS
        assert len(mail.keys()) == len(set(mail.keys()))
        assert not mail.defects
        assert set(recipients) <= known, recipients
        assert "\n" not in mail["Subject"]
