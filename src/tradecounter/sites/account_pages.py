"""The pages of the customer's account. A new subject is a line in `SUBJECTS`."""

from collections.abc import Sequence

from tradecounter.access.pages.account import UserPages
from tradecounter.agents.pages.account import AgentPages
from tradecounter.alerts.pages.account import AlertPages
from tradecounter.approvals.pages.account import ApprovalPages
from tradecounter.baskets.change_basket import summarise
from tradecounter.baskets.pages.account import BasketPages
from tradecounter.billing.pages.account import CreditPages, OwnInvoicePages, StatementPages
from tradecounter.consent.pages.account import CONSENT_PATH, ConsentPages
from tradecounter.credit_notes.pages.account import OwnCreditNotePages
from tradecounter.customer_requests.pages.account import AskPages
from tradecounter.customers.pages.both import AddressPages
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction
from tradecounter.edge.pages.operation import BUYER
from tradecounter.edge.pages.page_site import ACCOUNT, DEVELOPER_HOME, placed
from tradecounter.edge.pages.page_view import HeaderBasket
from tradecounter.edge.people import CustomerUser
from tradecounter.feeds.pages.account import FeedPages
from tradecounter.identity.pages.account import ApplicationPages, KeyPages
from tradecounter.kit.clock import Clock
from tradecounter.orders.pages.account.orders import OwnOrderListPages, OwnOrderPages
from tradecounter.orders.pages.account.review import ReviewPages
from tradecounter.orders.pages.both.new_order import NewOrderPages
from tradecounter.orders.pages.both.order_form import OWN
from tradecounter.parts.account import AccountParts
from tradecounter.payments.pages.account import RemittancePages
from tradecounter.quotes.pages.account import OwnQuotePages, QuoteLinkPages
from tradecounter.request_log.pages.account import RequestLogPages
from tradecounter.sandbox.pages.account import SandboxKeyPages
from tradecounter.saved_lists.pages.account import SavedListPages
from tradecounter.search.pages.both import SearchPages
from tradecounter.sites.assembled import Pages, assembled
from tradecounter.sites.menus import ACCOUNT_MENU
from tradecounter.storefront.pages.account import ShopPages
from tradecounter.today.pages.account import HomePages
from tradecounter.webhooks.pages.account import OwnWebhookListPages
from tradecounter.webhooks.pages.both import WebhookPages

SUBJECTS: Sequence[type] = (
    HomePages,
    ShopPages,
    OwnOrderListPages,
    OwnOrderPages,
    BasketPages,
    SavedListPages,
    placed(NewOrderPages, ACCOUNT, OWN),
    ReviewPages,
    ApprovalPages,
    AlertPages,
    AskPages,
    OwnQuotePages,
    QuoteLinkPages,
    placed(SearchPages, ACCOUNT),
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

    return assembled(ACCOUNT, ACCOUNT_MENU, subjects, parts, database, clock, base_url, basket)


def is_page(path: str) -> bool:
    """Return whether errors of a path are shown as pages."""
    return path in {ACCOUNT.home, CONSENT_PATH} or path.startswith(f"{ACCOUNT.home}/")
