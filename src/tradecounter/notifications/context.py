"""The context in which e-mails are built: settings, the order, validated recipients, and rendered templates."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from email.headerregistry import Address
from typing import Any

import jinja2
import structlog
from msgspec import Struct

from tradecounter.access.links import site_address
from tradecounter.customers.address_rules import address_lines
from tradecounter.customers.queries.accounts import find_account
from tradecounter.db.installation import installation_id
from tradecounter.db.transaction import Transaction
from tradecounter.edge.people import Site
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.kit.clock import UK, day_in_words, uk_date
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email, parse_mailbox
from tradecounter.kit.money import in_pounds
from tradecounter.kit.numbers import in_kilograms
from tradecounter.kit.text import fold, one_line
from tradecounter.letterhead.seller import Letterhead, letterhead_from
from tradecounter.notifications.mail import LOGO_ID, Attachment, Letter, Mail, make_mail
from tradecounter.notifications.queries import OrderFacts
from tradecounter.orders.queries.orders import find_order_by_id
from tradecounter.orders.states import AnyOrder
from tradecounter.settings import PREFIX, Settings, SettingsError

_LABEL_WIDTH = 20  # columns of the text part
_TEXT_WIDTH = 62


class _Formatted(str):
    """Text whose line breaks and no-break spaces come from the template."""

    __slots__ = ()


def _day(moment: datetime) -> str:
    return day_in_words(uk_date(moment))


def _moment(moment: datetime) -> str:
    return f"{_day(moment)}, {moment.astimezone(UK):%H:%M} (UK time)"


def _unbroken(words: str) -> _Formatted:
    """Return words with line breaks only after commas, even on a narrow screen."""
    return _Formatted(words.replace(" ", "\u00a0").replace(",\u00a0", ", "))


def _fact(lines: str | Iterable[str], label: str) -> _Formatted:
    """Return a label and a value; all lines of the value start in the same column."""
    values = [lines] if isinstance(lines, str) else lines
    labels = [label]
    return _Formatted("\n".join(f"{labels.pop() if labels else '':{_LABEL_WIDTH}}{one_line(line)}" for line in values))


def _amount(amount: Decimal, label: str) -> _Formatted:
    """Return a label and an amount that ends in the last column."""
    shown = in_pounds(amount)
    label = label if label.isprintable() else one_line(label)
    room = _TEXT_WIDTH - len(shown) - 1
    return _Formatted(f"{label:{room}} {shown}" if len(label) <= room else f"{label}\n{shown:>{_TEXT_WIDTH}}")


def _in_one_line(value: Any) -> Any:
    """Replace a customer's line breaks, so the text cannot imitate other lines of the e-mail."""
    return one_line(value) if type(value) is str and not value.isprintable() else value


def _templates(*, html: bool) -> jinja2.Environment:
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("tradecounter.notifications"),
        autoescape=html,  # noqa: S701 plain text has nothing to escape
        finalize=_in_one_line,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters.update(
        pounds=in_pounds,
        kilograms=in_kilograms,
        day=_day,
        date=day_in_words,
        moment=_moment,
        address=address_lines,
        fact=_fact,
        amount=_amount,
        formatted=_Formatted,
    )
    if html:
        templates.filters.update(
            date=lambda at: _unbroken(day_in_words(at)),
            day=lambda at: _unbroken(_day(at)),
            moment=lambda at: _unbroken(_moment(at)),
        )
    templates.globals["logo_id"] = LOGO_ID
    return templates


_TEXT = _templates(html=False)
_HTML = _templates(html=True)


def render(template: str, *, is_to_staff: bool = False, **facts: Any) -> tuple[str, str]:
    """Return an e-mail's text and HTML. `template` has what is between the letterhead and the foot.

    The foot of one to the staff says that replies go to the customer.
    """
    facts |= {"template": template, "is_to_staff": is_to_staff}
    return _TEXT.get_template("base.txt").render(facts), _HTML.get_template("base.html").render(facts)


log = structlog.get_logger()


class NothingToSend(Exception):  # noqa: N818 an error of the job, not of the program
    """The e-mail's subject does not exist, or no recipient is valid."""


class NotYetError(Exception):
    """The e-mail waits to include more quotes; its job is queued anew."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__()
        self.wait = wait


class MailSettings(Struct, frozen=True):
    """The sender, the letterhead, the support address for replies and the URLs of both sites.

    `secrets` returns the installation's secret keys, the current one first, from which the secrets of one-time links
    are derived.
    """

    letterhead: Letterhead
    sender: Address
    support: Address
    api: str | None
    backoffice: str | None
    secrets: Callable[[], Sequence[str]]

    @classmethod
    def from_settings(cls, settings: Settings) -> "MailSettings":
        """Raise SettingsError when an address or the logo cannot be used."""
        addresses = {}
        for name in ("mail_from", "support_email"):
            address = parse_mailbox(getattr(settings, name))
            if address is None:
                raise SettingsError(f"{PREFIX}{name.upper()}: {NOT_AN_EMAIL}")
            addresses[name] = address
        return cls(
            letterhead_from(settings),
            addresses["mail_from"],
            addresses["support_email"],
            settings.base_url,
            settings.backoffice_url,
            lambda: secret_keys(settings),
        )

    def page(self, site: Site, page: str) -> str:
        """Return the address of a page of a site."""
        return site_address(site, self.backoffice if site == "staff" else self.api, page)


class MailContext(Struct, frozen=True):
    """The transaction, the mail settings and the time with which an e-mail is built."""

    tx: Transaction
    settings: MailSettings
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
    ) -> Mail | None:
        """Return an e-mail, or None without recipients. Raises NothingToSend when no address is valid."""
        if not to:
            return None
        addresses = {fold(text): parse_email(text) for text in to}
        good = [address for address in addresses.values() if address is not None]
        if len(good) < len(addresses):
            log.error(
                "a recipient's address is not valid", mail=name, addresses=[t for t, a in addresses.items() if not a]
            )
        if not good:
            raise NothingToSend(f"{name}: no recipient has a valid address")
        text, html = render(template, settings=self.settings, subject=subject, **facts)
        letter = Letter(
            subject=subject, text=text, html=html, logo=self.settings.letterhead.logo, attachment=attachment
        )
        return make_mail(
            letter,
            name=name,
            installation=await installation_id(self.tx),
            happened=happened,
            now=self.now,
            sender=self.settings.sender,
            to=good,
            reply_to=self.settings.support if reply_to is None else parse_email(reply_to),
        )

    async def order(self, order_id: int) -> OrderFacts[AnyOrder]:
        """Return an order or a quote. Raises NothingToSend when it does not exist."""
        order = await find_order_by_id(self.tx, order_id)
        account = None if order is None else await find_account(self.tx, order.customer_id)
        if order is None or account is None:
            raise NothingToSend(f"order {order_id} does not exist")
        return OrderFacts(order, account)


# Takes a job's arguments. Returns None without recipients, or when the e-mail is out of date.
MailBuilder = Callable[..., Awaitable[Mail | None]]
