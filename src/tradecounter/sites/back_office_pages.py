"""The pages of the back office. A new subject is a line in `SUBJECTS`."""

from collections.abc import Sequence

from tradecounter.access.pages.staff import SettingPages, StaffPages, TokenPages
from tradecounter.audit.pages.staff import AuditPages, AuditSummaryPages
from tradecounter.billing.pages.staff.debtors import DebtorPages, RemindDebtorsPages
from tradecounter.billing.pages.staff.invoices import InvoicePages
from tradecounter.billing.pages.staff.vat import VatPages
from tradecounter.credit_notes.pages.staff import CreditNotePages
from tradecounter.customer_notes.pages.staff import CustomerNotePages
from tradecounter.customer_requests.pages.staff import RequestPages
from tradecounter.customers.pages.both import AddressPages
from tradecounter.customers.pages.staff.access import CustomerAccessPages
from tradecounter.customers.pages.staff.customers import CustomerListPages, CustomerPages, CustomerPricePages
from tradecounter.customers.pages.staff.settings import CustomerSettingsPages, CustomerStepPages
from tradecounter.customers.pages.staff.statement import CustomerStatementPages
from tradecounter.db.pool import Database
from tradecounter.edge.pages.page_site import BACK_OFFICE, placed
from tradecounter.goods_in.pages.staff import GoodsInPages
from tradecounter.imports.pages.staff.checks import ImportCheckPages
from tradecounter.imports.pages.staff.many_products import ManyProductsPages
from tradecounter.imports.pages.staff.one_import import ImportPages
from tradecounter.imports.pages.staff.prices import ContractPricePages, PriceChangePages
from tradecounter.imports.pages.staff.product_form import ProductFormPages
from tradecounter.jobs.pages.staff import JobPages
from tradecounter.kit.clock import Clock
from tradecounter.orders.pages.both.new_order import NewOrderPages
from tradecounter.orders.pages.both.order_form import OF_CALLER
from tradecounter.orders.pages.staff.amend import AmendPages
from tradecounter.orders.pages.staff.cancel import CancelPages
from tradecounter.orders.pages.staff.many import ManyOrderPages
from tradecounter.orders.pages.staff.order_for_customer import OrderForCustomerPages
from tradecounter.orders.pages.staff.orders import OrderPages
from tradecounter.orders.pages.staff.steps import OrderStepPages
from tradecounter.parts.back_office import OfficeParts
from tradecounter.payments.pages.staff.bank_files import BankFilePages
from tradecounter.payments.pages.staff.payments import PaymentPages
from tradecounter.payments.pages.staff.unplaced import BankLinePages
from tradecounter.products.pages.staff.one_product import ProductPages
from tradecounter.products.pages.staff.products import ProductListPages
from tradecounter.quotes.pages.staff.one_quote import QuotePages
from tradecounter.quotes.pages.staff.quotes import QuoteListPages
from tradecounter.returns.pages.staff import ReturnPages
from tradecounter.saved_views.pages.staff import SavedViewPages
from tradecounter.search.pages.both import SearchPages
from tradecounter.sites.assembled import Pages, assembled
from tradecounter.sites.menus import OFFICE_MENU
from tradecounter.storefront.pages.staff import AsCustomerPages
from tradecounter.today.pages.staff.today import TodayPages
from tradecounter.webhooks.pages.both import WebhookPages
from tradecounter.webhooks.pages.staff import WebhookListPages

SUBJECTS: Sequence[type] = (
    TodayPages,
    OrderForCustomerPages,  # before the page of an order: `/order/new` is no reference
    placed(NewOrderPages, BACK_OFFICE, OF_CALLER),
    ManyOrderPages,  # before the papers and forms of one: nor is `many`
    OrderPages,
    OrderStepPages,
    CancelPages,
    AmendPages,
    DebtorPages,
    RemindDebtorsPages,
    InvoicePages,
    CreditNotePages,
    VatPages,
    BankFilePages,
    BankLinePages,
    PaymentPages,
    WebhookListPages,
    placed(WebhookPages, BACK_OFFICE),
    JobPages,
    AuditPages,
    AuditSummaryPages,
    StaffPages,
    TokenPages,
    SettingPages,
    placed(SearchPages, BACK_OFFICE),
    SavedViewPages,
    RequestPages,
    QuoteListPages,
    QuotePages,
    ReturnPages,
    CustomerListPages,
    CustomerSettingsPages,
    CustomerPages,
    CustomerPricePages,
    AsCustomerPages,
    CustomerAccessPages,
    placed(AddressPages, BACK_OFFICE, "/customer/{id}"),
    CustomerNotePages,
    CustomerStatementPages,
    CustomerStepPages,
    ProductListPages,
    ProductPages,
    ProductFormPages,
    ManyProductsPages,
    ContractPricePages,
    PriceChangePages,
    GoodsInPages,
    ImportCheckPages,
    ImportPages,
)
_NO_PAGES = ("/api", "/static/", "/check-health", "/ready")


def backoffice_pages(parts: OfficeParts, database: Database, clock: Clock, base_url: str | None) -> Pages:
    """Return the staff's pages."""
    return assembled(BACK_OFFICE, OFFICE_MENU, SUBJECTS, parts, database, clock, base_url)


def is_page(path: str) -> bool:
    """Return whether errors of a path are shown as pages."""
    return not path.startswith(_NO_PAGES)
