"""The pages of the customer's account. A new subject is a line in `SUBJECTS`."""

from collections.abc import Sequence

from tradecounter.db.pool import Database
from tradecounter.kit.clock import Clock
from tradecounter.pages.account.addresses.pages import AddressPages
from tradecounter.pages.account.consent.pages import PATH as CONSENT
from tradecounter.pages.account.consent.pages import ConsentPages
from tradecounter.pages.account.developers.applications import ApplicationPages
from tradecounter.pages.account.developers.deliveries import DeliveryPages
from tradecounter.pages.account.developers.feeds import FeedPages
from tradecounter.pages.account.developers.keys import KeyPages
from tradecounter.pages.account.developers.webhooks import WebhookPages
from tradecounter.pages.account.home.pages import HomePages
from tradecounter.pages.account.money.credit import CreditPages
from tradecounter.pages.account.money.invoices import InvoicePages
from tradecounter.pages.account.money.statement import StatementPages
from tradecounter.pages.account.new_order.entry import NewOrderPages
from tradecounter.pages.account.new_order.review import ReviewPages
from tradecounter.pages.account.orders.one_order import OwnOrderPages
from tradecounter.pages.account.orders.order_list import OwnOrderListPages
from tradecounter.pages.account.parts import AccountParts
from tradecounter.pages.account.quote_link.pages import QuoteLinkPages
from tradecounter.pages.account.quotes.pages import QuotePages
from tradecounter.pages.account.users.pages import UserPages
from tradecounter.pages.assembled import Pages, assembled
from tradecounter.pages.page_site import ACCOUNT

SUBJECTS: Sequence[type] = (
    HomePages,
    OwnOrderListPages,
    OwnOrderPages,
    NewOrderPages,
    ReviewPages,
    QuotePages,
    QuoteLinkPages,
    InvoicePages,
    StatementPages,
    CreditPages,
    AddressPages,
    UserPages,
    KeyPages,
    ApplicationPages,
    WebhookPages,  # before the page of a webhook: `/webhook/new` is no id
    DeliveryPages,
    FeedPages,
)


def account_pages(parts: AccountParts, database: Database, clock: Clock, base_url: str | None) -> Pages:
    """Return the customers' pages, with that of the own issuer unless consent comes from another one."""
    subjects = (*SUBJECTS, ConsentPages) if parts.settings.auth_url is None else SUBJECTS
    return assembled(ACCOUNT, "tradecounter.pages.account", subjects, parts, database, clock, base_url)


def is_page(path: str) -> bool:
    """Return whether errors of a path are shown as pages."""
    return path in {ACCOUNT.home, CONSENT} or path.startswith(f"{ACCOUNT.home}/")
