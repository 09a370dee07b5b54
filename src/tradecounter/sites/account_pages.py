"""The pages of the customer's account. A new subject is a line in `SUBJECTS`."""

from collections.abc import Sequence

from tradecounter.access.pages.account.users import UserPages
from tradecounter.billing.pages.account.credit import CreditPages
from tradecounter.billing.pages.account.invoices import InvoicePages
from tradecounter.billing.pages.account.statement import StatementPages
from tradecounter.consent.pages.account.consent import PATH as CONSENT
from tradecounter.consent.pages.account.consent import ConsentPages
from tradecounter.customers.pages.both.addresses import AddressPages
from tradecounter.db.pool import Database
from tradecounter.edge.pages.page_site import ACCOUNT
from tradecounter.edge.pages.people import DEVELOPER_HOME
from tradecounter.edge.pages.placed import placed
from tradecounter.feeds.pages.account.feeds import FeedPages
from tradecounter.identity.pages.account.applications import ApplicationPages
from tradecounter.identity.pages.account.keys import KeyPages
from tradecounter.kit.clock import Clock
from tradecounter.orders.pages.account.new_order import NewOrderPages
from tradecounter.orders.pages.account.order_list import OwnOrderListPages
from tradecounter.orders.pages.account.review import ReviewPages
from tradecounter.orders.pages.account.shown import OwnOrderPages
from tradecounter.parts.account import AccountParts
from tradecounter.quotes.pages.account.quote_link import QuoteLinkPages
from tradecounter.quotes.pages.account.quotes import QuotePages
from tradecounter.search.pages.account.search import OwnSearchPages
from tradecounter.sites.assembled import Pages, assembled
from tradecounter.today.pages.account.home import HomePages
from tradecounter.webhooks.pages.account.webhooks import OwnWebhookListPages
from tradecounter.webhooks.pages.both.webhooks import WebhookPages

SUBJECTS: Sequence[type] = (
    HomePages,
    OwnOrderListPages,
    OwnOrderPages,
    NewOrderPages,
    ReviewPages,
    QuotePages,
    QuoteLinkPages,
    OwnSearchPages,
    InvoicePages,
    StatementPages,
    CreditPages,
    placed(AddressPages, ACCOUNT, ACCOUNT.home),
    UserPages,
    KeyPages,
    ApplicationPages,
    OwnWebhookListPages,
    placed(WebhookPages, ACCOUNT, DEVELOPER_HOME),
    FeedPages,
)


def account_pages(parts: AccountParts, database: Database, clock: Clock, base_url: str | None) -> Pages:
    """Return the customers' pages, with that of the own issuer unless consent comes from another one."""
    subjects = (*SUBJECTS, ConsentPages) if parts.settings.auth_url is None else SUBJECTS
    return assembled(ACCOUNT, subjects, parts, parts.settings, database, clock, base_url)


def is_page(path: str) -> bool:
    """Return whether errors of a path are shown as pages."""
    return path in {ACCOUNT.home, CONSENT} or path.startswith(f"{ACCOUNT.home}/")
