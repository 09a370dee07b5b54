"""A mail, made so that nothing that a customer typed can break it."""

import email.policy
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr

from tradecounter.kit.text import one_line
from tradecounter.letterhead.logo import Logo

LOGO_ID = "logo@tradecounter"

_ATOM = r'[^\s()<>\[\]:;@\\,."]+'
_DOT_ATOM = re.compile(rf"{_ATOM}(\.{_ATOM})*")
_DOMAIN = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


@dataclass(frozen=True, slots=True)
class Attachment:
    """A PDF file that is attached to a mail."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Mail:
    """A message and whom it goes to; `name` tells what it is about, `moment` when that happened.

    `quotes` are the ids of those that it asks support to price.
    """

    name: str
    moment: datetime
    sender: str
    recipients: tuple[str, ...]
    message: EmailMessage
    quotes: tuple[int, ...] = ()


def mail_address(text: str, name: str = "") -> Address | None:
    """Return an address to send mail to, its domain in ASCII; None if no mail server could read it."""
    local, _, domain = text.rpartition("@")
    try:
        domain = domain.encode("idna").decode("ascii")
    except UnicodeError:
        return None
    if not (local.isprintable() and _DOT_ATOM.fullmatch(local) and _DOMAIN.fullmatch(domain)):
        return None
    return Address(one_line(name), local, domain)


def mailbox(text: str) -> Address | None:
    """Return an address of the settings, which a name may stand before: `Name <name@shop.example>`."""
    name, address = parseaddr(text)
    return mail_address(address, name)


def make_mail(
    *,
    name: str,
    installation: str,
    happened: datetime,
    now: datetime,
    sender: Address,
    to: Sequence[Address],
    reply_to: Address | None,
    subject: str,
    text: str,
    html: str,
    logo: Logo | None = None,
    attachment: Attachment | None = None,
) -> Mail:
    """Return a mail in text and HTML, which shows the logo as `cid:LOGO_ID`.

    Its Message-ID is made of its name and the installation: mail programs recognise a repeated mail as the same, and
    no mail of another installation has it.
    """
    message = EmailMessage(email.policy.SMTP)
    message["From"] = sender
    message["To"] = to
    if reply_to is not None:
        message["Reply-To"] = reply_to
    message["Subject"] = one_line(subject)
    message["Date"] = format_datetime(now)
    message["Message-ID"] = f"<{name}.{installation}@{sender.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text, cte="quoted-printable")
    message.add_alternative(html, subtype="html", cte="quoted-printable")
    if logo is not None:
        shown = message.get_body(("html",))
        shown.add_related(  # type: ignore[union-attr]
            logo.content,
            "image",
            logo.subtype,
            cid=f"<{LOGO_ID}>",
            filename=f"logo.{logo.format}",
            disposition="inline",
        )
    if attachment is not None:
        message.add_attachment(
            attachment.content, maintype="application", subtype="pdf", filename=attachment.name, cte="base64"
        )
    return Mail(name, happened, sender.addr_spec, tuple(address.addr_spec for address in to), message)
