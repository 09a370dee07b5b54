"""Sends e-mails to a mail server, or writes them to a folder when none is configured."""

import asyncio
import email.policy
import os
import tempfile
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

import aiosmtplib
import structlog

from tradecounter.kit.private_folder import make_private
from tradecounter.kit.setting_rules import comma_separated, is_loopback
from tradecounter.kit.text import fold, one_line
from tradecounter.notifications.mail import Mail
from tradecounter.settings import Settings, SettingsError

log = structlog.get_logger()

REPLY_SECONDS = 30.0
SENDING_SECONDS = 120.0
GOODBYE_SECONDS = 2.0
CHECK_SECONDS = 10.0

_PORT = 25
_TLS_PORT = 465
_PERMANENT = 500  # SMTP replies from here on are final
_LONGEST_REPLY = 300


class Undelivered(Exception):  # noqa: N818 not an error of the program
    """An e-mail could not be sent."""


class Delayed(Undelivered):
    """A later attempt may succeed."""


class Rejected(Undelivered):
    """The mail server permanently rejects the e-mail."""


class Transport(Protocol):
    """Sends e-mails."""

    async def send(self, mail: Mail) -> None:
        """Send an e-mail. Raises Delayed or Rejected."""
        ...


def transport_for(settings: Settings) -> Transport:
    """Return the transport that the settings choose. Raises SettingsError for an invalid mail server URL."""
    folder = MailFolder(mail_folder(settings))
    if settings.smtp_url is None:
        return folder
    server = MailServer(settings.smtp_url)
    if not settings.sandbox:
        return server
    return SandboxMail(server, folder, frozenset(map(fold, comma_separated(settings.sandbox_mail))))


def mail_folder(settings: Settings) -> Path:
    """Return the folder for e-mails when no mail server is set."""
    return settings.data_dir / "mail"


class MailFolder:
    """Writes e-mails as files, named by time and subject; an e-mail that is sent again replaces its file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def send(self, mail: Mail) -> None:
        """Write an e-mail. Raises Delayed."""
        try:
            path = await asyncio.to_thread(self._write, mail)
        except OSError as error:
            raise Delayed(f"the mail folder cannot be written: {error}") from error
        log.info("e-mail written to a folder", mail=mail.name, file=str(path))

    def _write(self, mail: Mail) -> Path:
        ascii_only = all(map(str.isascii, mail.recipients))
        content = mail.message.as_bytes(policy=email.policy.SMTP if ascii_only else email.policy.SMTPUTF8)
        make_private(self._folder)
        descriptor, draft = tempfile.mkstemp(dir=self._folder, prefix=".draft-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            return Path(draft).replace(self._folder / f"{mail.moment:%Y%m%dT%H%M%SZ}-{mail.name}.eml")
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise


class SandboxMail:
    """Sends e-mails to the addresses of a list, and writes those to anybody else into a folder."""

    def __init__(self, server: Transport, folder: Transport, listed: AbstractSet[str]) -> None:
        self._server = server
        self._folder = folder
        self._listed = listed

    async def send(self, mail: Mail) -> None:
        """Send or write an e-mail. Raises Delayed or Rejected."""
        only_listed = all(fold(address) in self._listed for address in mail.recipients)
        await (self._server if only_listed else self._folder).send(mail)


class MailServer:
    """Sends e-mails to a mail server: `smtps://` (TLS), `smtp://` (STARTTLS) or `smtp+plain://` (no TLS).

    `smtp://` requires STARTTLS, except for a server on this machine without user and password.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._tls = parts.scheme == "smtps"
        try:
            self._port = parts.port or (_TLS_PORT if self._tls else _PORT)
        except ValueError:  # not chained: the original error may contain the password
            raise SettingsError("TRADECOUNTER_SMTP_URL: the port must be a number up to 65535") from None
        self._host = parts.hostname or ""
        self._user = None if parts.username is None else unquote(parts.username)
        self._password = None if parts.password is None else unquote(parts.password)
        self._starttls = parts.scheme == "smtp"
        self._starttls_required = self._starttls and (self._user is not None or not is_loopback(self._host))

    async def check(self, sender: str) -> None:
        """Connect and log in as for an e-mail from a sender, but send nothing. Raises Delayed."""
        client = self._client(sender)
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await self._connect(client)
                await client.ehlo()
            with suppress(aiosmtplib.SMTPException, OSError):
                await client.quit(timeout=GOODBYE_SECONDS)
        except (aiosmtplib.SMTPException, OSError) as error:
            raise _delayed(error) from None  # not chained, as below
        finally:
            client.close()

    async def send(self, mail: Mail) -> None:
        """Send an e-mail. Raises Delayed or Rejected."""
        client = self._client(mail.sender)
        try:
            async with asyncio.timeout(SENDING_SECONDS):
                await self._connect(client)
                rejected, _ = await client.send_message(mail.message, sender=mail.sender, recipients=mail.recipients)
            with suppress(aiosmtplib.SMTPException, OSError):  # the e-mail is already sent
                await client.quit(timeout=GOODBYE_SECONDS)
        except (aiosmtplib.SMTPException, OSError) as error:
            # Not chained: the library's error may contain the password.
            raise _undelivered(mail, error) from None
        finally:
            client.close()
        if rejected:
            replies = [_reply(reply.code, reply.message) for reply in rejected.values()]
            log.warning("e-mail rejected for some recipients", mail=mail.name, replies=replies)
        log.info("e-mail sent", mail=mail.name)

    def _client(self, sender: str) -> aiosmtplib.SMTP:
        return aiosmtplib.SMTP(
            hostname=self._host,
            port=self._port,
            use_tls=self._tls,
            start_tls=None if self._starttls and not self._starttls_required else False,  # None: if offered
            local_hostname=sender.rpartition("@")[2],
            timeout=REPLY_SECONDS,
        )

    async def _connect(self, client: aiosmtplib.SMTP) -> None:
        await client.connect()
        if self._starttls_required:
            await client.ehlo()
            if not client.supports_extension("starttls"):
                raise Delayed(
                    f"the mail server {self._host} does not offer STARTTLS, so it gets no e-mail: enable STARTTLS "
                    "there, or set TRADECOUNTER_SMTP_URL to smtps://, or to smtp+plain:// to send without TLS"
                )
            await client.starttls()
        if self._user is not None:
            await client.login(self._user, self._password or "")


def _undelivered(mail: Mail, error: Exception) -> Undelivered:
    """Return Rejected when the server permanently rejects the e-mail or all its recipients, else Delayed."""
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        replies = "; ".join(_reply(one.code, one.message) for one in error.recipients)
        final = all(one.code >= _PERMANENT for one in error.recipients)
        return (Rejected if final else Delayed)(f"the mail server rejects all recipients: {replies}")
    if isinstance(error, aiosmtplib.SMTPDataError) and error.code >= _PERMANENT:
        return Rejected(f"the mail server rejects the e-mail: {_reply(error.code, error.message)}")
    if isinstance(error, aiosmtplib.SMTPNotSupported) and not all(map(str.isascii, mail.recipients)):
        return Rejected("the mail server accepts only ASCII addresses")
    return _delayed(error)


def _delayed(error: Exception) -> Delayed:
    """Return the error for a server that currently accepts no e-mail."""
    if isinstance(error, aiosmtplib.SMTPAuthenticationError):
        return Delayed(f"the mail server rejects the user and password: {error.code}")
    if isinstance(error, aiosmtplib.SMTPResponseException):
        return Delayed(f"the mail server replies {_reply(error.code, error.message)}")
    return Delayed(f"the mail server cannot be reached: {type(error).__name__}: {one_line(str(error))}")


def _reply(code: int, message: str) -> str:
    return f"{code} {one_line(message)[:_LONGEST_REPLY]}"
