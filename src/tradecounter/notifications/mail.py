"""Builds e-mail messages; text from customers cannot break a header."""

import email.policy
from collections.abc import Callable, Sequence
from datetime import datetime
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime

from msgspec import Struct

from tradecounter.kit.text import one_line
from tradecounter.letterhead.seller import Logo

LOGO_ID = "logo@tradecounter"


class Attachment(Struct, frozen=True):
    """A PDF file that is attached to an e-mail."""

    name: str
    content: bytes


class Drawing(Struct, frozen=True):
    """A PDF file that is drawn and attached when the transaction that has read its content has ended."""

    name: str
    draw: Callable[[], bytes]


class Letter(Struct, frozen=True, kw_only=True):
    """What an e-mail says, in text and HTML; the HTML shows the logo as `cid:LOGO_ID`."""

    subject: str
    text: str
    html: str
    logo: Logo | None = None
    attachment: Attachment | None = None


class Mail(Struct, frozen=True):
    """A message and its recipients.

    `name` identifies the event, which happened at `moment`. `quotes` are the quotes that support should price.
    """

    name: str
    moment: datetime
    sender: str
    recipients: tuple[str, ...]
    message: EmailMessage
    quotes: tuple[int, ...] = ()
    drawing: Drawing | None = None

    def attach_drawing(self) -> None:
        """Draw the PDF file and attach it; this may take a second."""
        if self.drawing is not None:
            _attach(self.message, Attachment(self.drawing.name, self.drawing.draw()))

    @property
    def as_text(self) -> tuple[str, str]:
        """The subject and the text of the message."""
        part = self.message.get_body(("plain",))
        return self.message["subject"], "" if part is None else part.get_content()


def make_mail(
    letter: Letter,
    *,
    name: str,
    installation: str,
    happened: datetime,
    now: datetime,
    sender: Address,
    to: Sequence[Address],
    reply_to: Address | None,
) -> Mail:
    """Return an e-mail with the headers of its delivery.

    The Message-ID consists of the e-mail's name and the installation. Mail programs therefore detect duplicates, and
    two installations never use the same id.
    """
    message = EmailMessage(email.policy.SMTP)
    message["From"] = sender
    message["To"] = to
    if reply_to is not None:
        message["Reply-To"] = reply_to
    _set_subject(message, letter.subject)
    message["Date"] = format_datetime(now)
    message["Message-ID"] = f"<{name}.{installation}@{sender.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    _set_content(message, letter)
    return Mail(
        name=name,
        moment=happened,
        sender=sender.addr_spec,
        recipients=tuple(address.addr_spec for address in to),
        message=message,
    )


def _set_subject(message: EmailMessage, subject: str) -> None:
    """Set a subject, on one line and without encoded words (RFC 2047) of its own.

    The standard library decodes those that it finds in a header's text, and writes the line breaks in them as they are.
    It garbles a long word beside a letter that is not ASCII when it folds the line, so such a subject is encoded whole.
    """
    text = one_line(subject).replace("=?", "= ?")
    if text.isascii():
        message["Subject"] = text
    else:
        message.set_raw("Subject", Header(text, "utf-8", header_name="Subject").encode())


def _set_content(message: EmailMessage, letter: Letter) -> None:
    message.set_content(letter.text, cte="quoted-printable")
    message.add_alternative(letter.html, subtype="html", cte="quoted-printable")
    logo, attachment = letter.logo, letter.attachment
    if logo is not None:
        body = message.get_body(("html",))
        body.add_related(  # type: ignore[union-attr]
            logo.content,
            "image",
            logo.subtype,
            cid=f"<{LOGO_ID}>",
            filename=f"logo.{logo.format}",
            disposition="inline",
        )
    if attachment is not None:
        _attach(message, attachment)


def _attach(message: EmailMessage, attachment: Attachment) -> None:
    message.add_attachment(
        attachment.content, maintype="application", subtype="pdf", filename=attachment.name, cte="base64"
    )
