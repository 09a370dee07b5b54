"""What the functions that write mails share: the sender, the lookup of the order, and the checks of addresses."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.headerregistry import Address
from typing import Any

import structlog

from tradecounter.db.installation import installation_id
from tradecounter.db.transaction import Transaction
from tradecounter.kit.text import fold
from tradecounter.letterhead.seller import Letterhead, letterhead_from
from tradecounter.notifications.mail import Attachment, Mail, mail_address, mailbox, make_mail
from tradecounter.notifications.queries import OrderFacts, order_facts
from tradecounter.notifications.wording import worded
from tradecounter.ordering.states import AnyOrder
from tradecounter.settings import PREFIX, Settings, SettingsError

log = structlog.get_logger()


class NothingToTell(Exception):  # noqa: N818 it is what the job was about that is wrong
    """What a mail is about does not exist, or nobody can be told."""


class NotYetError(Exception):
    """A mail is held back for a while, so that it can tell more."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__(f"in {wait.total_seconds():.0f} seconds")
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Office:
    """Who writes the mails, and who answers what comes back."""

    letterhead: Letterhead
    sender: Address
    support: Address
    api: str | None

    @classmethod
    def from_settings(cls, settings: Settings) -> "Office":
        """Raise SettingsError when an address or the logo of the settings cannot be used."""
        addresses = {}
        for name in ("mail_from", "support_email"):
            address = mailbox(getattr(settings, name))
            if address is None:
                raise SettingsError(f"{PREFIX}{name.upper()}: is not an address that a mail server could read")
            addresses[name] = address
        return cls(letterhead_from(settings), addresses["mail_from"], addresses["support_email"], settings.base_url)


@dataclass(frozen=True, slots=True)
class Writing:
    """What a mail is written with: the transaction that it reads in, the office, and the moment of writing."""

    tx: Transaction
    office: Office
    now: datetime

    async def mail(
        self,
        name: str,
        happened: datetime,
        to: Sequence[str],
        subject: str,
        template: str,
        *,
        reply_to: str | None = None,
        attachment: Attachment | None = None,
        **facts: Any,
    ) -> Mail:
        """Return a mail. Raises NothingToTell when no mail server could read any of the addresses."""
        addresses = {fold(text): mail_address(text) for text in to}
        good = [address for address in addresses.values() if address is not None]
        if len(good) < len(addresses):
            log.error(
                "no mail can be sent to an address", mail=name, addresses=[t for t, a in addresses.items() if not a]
            )
        if not good:
            raise NothingToTell(f"{name}: nobody to tell")
        text, html = worded(template, office=self.office, subject=subject, **facts)
        return make_mail(
            name=name,
            installation=await installation_id(self.tx),
            happened=happened,
            now=self.now,
            sender=self.office.sender,
            to=good,
            reply_to=self.office.support if reply_to is None else mail_address(reply_to),
            subject=subject,
            text=text,
            html=html,
            logo=self.office.letterhead.logo,
            attachment=attachment,
        )

    async def order(self, order_id: int) -> OrderFacts[AnyOrder]:
        """Return an order or a quote. Raises NothingToTell without one."""
        order = await order_facts(self.tx, order_id)
        if order is None:
            raise NothingToTell(f"there is no order {order_id}")
        return order


# Returns the mail for a job's arguments; None when nobody wants it, it is no longer true, or a later mail replaces it.
Letter = Callable[..., Awaitable[Mail | None]]
