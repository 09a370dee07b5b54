"""The pages of the back office. A new subject is a line in `SUBJECTS`."""

from collections.abc import Sequence

from tradecounter.db.pool import Database
from tradecounter.kit.clock import Clock
from tradecounter.pages.assembled import Pages, assembled
from tradecounter.pages.backoffice.audit.pages import AuditPages
from tradecounter.pages.backoffice.customers.access import CustomerAccessPages
from tradecounter.pages.backoffice.customers.addresses import CustomerAddressPages
from tradecounter.pages.backoffice.customers.customer_list import CustomerListPages
from tradecounter.pages.backoffice.customers.one_customer import CustomerPages
from tradecounter.pages.backoffice.customers.prices import CustomerPricePages
from tradecounter.pages.backoffice.customers.settings import CustomerSettingsPages
from tradecounter.pages.backoffice.customers.statement import CustomerStatementPages
from tradecounter.pages.backoffice.customers.steps import CustomerStepPages
from tradecounter.pages.backoffice.imports.checks import ImportCheckPages
from tradecounter.pages.backoffice.imports.one_import import ImportPages
from tradecounter.pages.backoffice.jobs.pages import JobPages
from tradecounter.pages.backoffice.money.bank_file import BankFilePages
from tradecounter.pages.backoffice.money.bank_history import BankHistoryPages
from tradecounter.pages.backoffice.money.credit_notes import CreditNotePages
from tradecounter.pages.backoffice.money.debtors import DebtorPages
from tradecounter.pages.backoffice.money.invoices import InvoicePages
from tradecounter.pages.backoffice.money.payments import PaymentPages
from tradecounter.pages.backoffice.money.unplaced import BankLinePages
from tradecounter.pages.backoffice.orders.after_sale import AfterSalePages
from tradecounter.pages.backoffice.orders.amend import AmendPages
from tradecounter.pages.backoffice.orders.cancel import CancelPages
from tradecounter.pages.backoffice.orders.confirm import ConfirmPages
from tradecounter.pages.backoffice.orders.entry import OrderEntryPages
from tradecounter.pages.backoffice.orders.one_order import OrderPages
from tradecounter.pages.backoffice.orders.order_list import OrderListPages
from tradecounter.pages.backoffice.orders.papers import OrderPaperPages
from tradecounter.pages.backoffice.orders.shipments import ShipmentPages
from tradecounter.pages.backoffice.orders.steps import OrderStepPages
from tradecounter.pages.backoffice.parts import OfficeParts
from tradecounter.pages.backoffice.products.one_product import ProductPages
from tradecounter.pages.backoffice.products.product_list import ProductListPages
from tradecounter.pages.backoffice.quotes.desk import QuoteListPages
from tradecounter.pages.backoffice.quotes.pricing import QuotePages
from tradecounter.pages.backoffice.quotes.steps import QuoteStepPages
from tradecounter.pages.backoffice.returns.one_return import ReturnPages
from tradecounter.pages.backoffice.returns.return_list import ReturnListPages
from tradecounter.pages.backoffice.search.pages import SearchPages
from tradecounter.pages.backoffice.staff.members import StaffPages
from tradecounter.pages.backoffice.staff.tokens import TokenPages
from tradecounter.pages.backoffice.today.pages import TodayPages
from tradecounter.pages.backoffice.webhooks.deliveries import DeliveryPages
from tradecounter.pages.backoffice.webhooks.endpoints import WebhookPages
from tradecounter.pages.page_site import BACK_OFFICE

SUBJECTS: Sequence[type] = (
    TodayPages,
    OrderListPages,
    OrderEntryPages,  # before the page of an order: `/order/new` is no reference
    OrderPages,
    OrderStepPages,
    CancelPages,
    ShipmentPages,
    DebtorPages,
    InvoicePages,
    CreditNotePages,
    BankFilePages,
    BankHistoryPages,
    BankLinePages,
    PaymentPages,
    WebhookPages,
    DeliveryPages,
    JobPages,
    AuditPages,
    StaffPages,
    TokenPages,
    SearchPages,
    ConfirmPages,
    AmendPages,
    AfterSalePages,
    OrderPaperPages,
    QuoteListPages,
    QuotePages,
    QuoteStepPages,
    ReturnListPages,
    ReturnPages,
    CustomerListPages,
    CustomerSettingsPages,
    CustomerPages,
    CustomerPricePages,
    CustomerAccessPages,
    CustomerAddressPages,
    CustomerStatementPages,
    CustomerStepPages,
    ProductListPages,
    ProductPages,
    ImportCheckPages,
    ImportPages,
)
_NO_PAGES = ("/api", "/static/", "/check-health", "/ready")


def backoffice_pages(parts: OfficeParts, database: Database, clock: Clock, base_url: str | None) -> Pages:
    """Return the staff's pages."""
    return assembled(BACK_OFFICE, "tradecounter.pages.backoffice", SUBJECTS, parts, database, clock, base_url)


def is_page(path: str) -> bool:
    """Return whether errors of a path are shown as pages."""
    return not path.startswith(_NO_PAGES)
