"""The pages of the customer's account. A new subject is a line in `SUBJECTS`."""

from collections.abc import Sequence

from tradecounter.access.pages.account.users import UserPages
from tradecounter.agents.pages.account.agents import AgentPages
from tradecounter.alerts.pages.account.alerts import AlertPages
from tradecounter.approvals.pages.account.approvals import ApprovalPages
from tradecounter.baskets.pages.account.add import BasketPages
from tradecounter.baskets.pages.account.share import SharePages
from tradecounter.baskets.summary import summarise
from tradecounter.billing.pages.account.credit import CreditPages
from tradecounter.billing.pages.account.credit_notes import OwnCreditNotePages
from tradecounter.billing.pages.account.invoices import OwnInvoicePages
from tradecounter.billing.pages.account.statement import StatementPages
from tradecounter.consent.pages.account.consent import PATH as CONSENT
from tradecounter.consent.pages.account.consent import ConsentPages
from tradecounter.customer_requests.pages.account.requests import AskPages
from tradecounter.customers.pages.both.addresses import AddressPages
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.page_site import ACCOUNT
from tradecounter.edge.pages.page_view import HeaderBasket
from tradecounter.edge.pages.people import BUYER, DEVELOPER_HOME
from tradecounter.edge.pages.placed import placed
from tradecounter.edge.people import CustomerUser
from tradecounter.feeds.pages.account.feeds import FeedPages
from tradecounter.identity.pages.account.applications import ApplicationPages
from tradecounter.identity.pages.account.keys import KeyPages
from tradecounter.kit.clock import Clock
from tradecounter.orders.pages.account.order_list import OwnOrderListPages
from tradecounter.orders.pages.account.review import ReviewPages
from tradecounter.orders.pages.account.shown import OwnOrderPages
from tradecounter.orders.pages.both.new_order import OWN, NewOrderPages
from tradecounter.parts.account import AccountParts
from tradecounter.payments.pages.account.remittance import RemittancePages
from tradecounter.quotes.pages.account.quote_link import QuoteLinkPages
from tradecounter.quotes.pages.account.quotes import OwnQuotePages
from tradecounter.request_log.pages.account.requests import RequestLogPages
from tradecounter.sandbox.pages.account.keys import SandboxKeyPages
from tradecounter.saved_lists.pages.account.lists import SavedListPages
from tradecounter.search.pages.account.search import OwnSearchPages
from tradecounter.sites.assembled import Pages, assembled
from tradecounter.storefront.pages.account.compare import ComparePages
from tradecounter.storefront.pages.account.shop import ShopPages
from tradecounter.today.pages.account.home import HomePages
from tradecounter.webhooks.pages.account.webhooks import OwnWebhookListPages
from tradecounter.webhooks.pages.both.webhooks import WebhookPages

SUBJECTS: Sequence[type] = (
    HomePages,
    ComparePages,
    ShopPages,
    OwnOrderListPages,
    OwnOrderPages,
    BasketPages,
    SharePages,
    SavedListPages,
    placed(NewOrderPages, ACCOUNT, OWN),
    ReviewPages,
    ApprovalPages,
    AlertPages,
    AskPages,
    OwnQuotePages,
    QuoteLinkPages,
    OwnSearchPages,
    StatementPages,  # before the page of an invoice: `statement` is no number
    RemittancePages,  # before an invoice by its number
    OwnCreditNotePages,
    OwnInvoicePages,
    CreditPages,
    placed(AddressPages, ACCOUNT, ACCOUNT.home),
    UserPages,
    KeyPages,
    SandboxKeyPages,
    RequestLogPages,
    ApplicationPages,
    AgentPages,
    OwnWebhookListPages,
    placed(WebhookPages, ACCOUNT, DEVELOPER_HOME),
    FeedPages,
)


def account_pages(parts: AccountParts, database: Database, clock: Clock, base_url: str | None) -> Pages:
    """Return the customers' pages, with that of the own issuer unless consent comes from another one."""
    subjects = (*SUBJECTS, ConsentPages) if parts.settings.auth_url is None else SUBJECTS

    async def basket(tx: Transaction, user: CustomerUser) -> HeaderBasket | None:
        may_order = user.has_role(*BUYER)
        return await summarise(tx, user, parts.views.storefront.last_view(user.customer_id)) if may_order else None

    return assembled(ACCOUNT, subjects, parts, parts.settings, database, clock, base_url, basket)


def is_page(path: str) -> bool:
    """Return whether errors of a path are shown as pages."""
    return path in {ACCOUNT.home, CONSENT} or path.startswith(f"{ACCOUNT.home}/")
