"""The pages of the back office. A new subject is a line in `SUBJECTS`."""

from collections.abc import Sequence

from tradecounter.access.pages.staff.members import StaffPages
from tradecounter.access.pages.staff.settings import SettingPages
from tradecounter.access.pages.staff.tokens import TokenPages
from tradecounter.audit.pages.staff.audit_log import AuditPages
from tradecounter.audit.pages.staff.summary import AuditSummaryPages
from tradecounter.billing.pages.staff.credit_notes import CreditNotePages
from tradecounter.billing.pages.staff.debtors import DebtorPages
from tradecounter.billing.pages.staff.invoices import InvoicePages
from tradecounter.billing.pages.staff.remind_debtors import RemindDebtorsPages
from tradecounter.billing.pages.staff.vat import VatPages
from tradecounter.customer_notes.pages.staff.notes import CustomerNotePages
from tradecounter.customer_requests.pages.staff.requests import RequestPages
from tradecounter.customers.pages.both.addresses import AddressPages
from tradecounter.customers.pages.staff.access import CustomerAccessPages
from tradecounter.customers.pages.staff.customer_list import CustomerListPages
from tradecounter.customers.pages.staff.one_customer import CustomerPages
from tradecounter.customers.pages.staff.prices import CustomerPricePages
from tradecounter.customers.pages.staff.settings import CustomerSettingsPages
from tradecounter.customers.pages.staff.statement import CustomerStatementPages
from tradecounter.customers.pages.staff.steps import CustomerStepPages
from tradecounter.db.pool import Database
from tradecounter.edge.pages.page_site import BACK_OFFICE
from tradecounter.edge.pages.placed import placed
from tradecounter.goods_in.pages.staff.counts import CountPages
from tradecounter.goods_in.pages.staff.goods_in import GoodsInPages
from tradecounter.imports.pages.staff.checks import ImportCheckPages
from tradecounter.imports.pages.staff.contract_price import ContractPricePages
from tradecounter.imports.pages.staff.many_products import ManyProductsPages
from tradecounter.imports.pages.staff.one_import import ImportPages
from tradecounter.imports.pages.staff.price_change import PriceChangePages
from tradecounter.imports.pages.staff.product_form import ProductFormPages
from tradecounter.jobs.pages.staff.jobs import JobPages
from tradecounter.kit.clock import Clock
from tradecounter.orders.pages.both.new_order import OF_CALLER, NewOrderPages
from tradecounter.orders.pages.staff.after_sale import AfterSalePages
from tradecounter.orders.pages.staff.amend import AmendPages
from tradecounter.orders.pages.staff.cancel import CancelPages
from tradecounter.orders.pages.staff.choose_customer import ChooseCustomerPages
from tradecounter.orders.pages.staff.confirm import ConfirmPages
from tradecounter.orders.pages.staff.many import ManyOrderPages
from tradecounter.orders.pages.staff.one_order import OrderPages
from tradecounter.orders.pages.staff.order_list import OrderListPages
from tradecounter.orders.pages.staff.papers import OrderPaperPages
from tradecounter.orders.pages.staff.shipments import ShipmentPages
from tradecounter.orders.pages.staff.steps import OrderStepPages
from tradecounter.parts.back_office import OfficeParts
from tradecounter.payments.pages.staff.bank_file import BankFilePages
from tradecounter.payments.pages.staff.bank_history import BankHistoryPages
from tradecounter.payments.pages.staff.payments import PaymentPages
from tradecounter.payments.pages.staff.unplaced import BankLinePages
from tradecounter.products.pages.staff.groups import GroupPages
from tradecounter.products.pages.staff.one_product import ProductPages
from tradecounter.products.pages.staff.product_list import ProductListPages
from tradecounter.quotes.pages.staff.pricing import QuotePages
from tradecounter.quotes.pages.staff.quote_list import QuoteListPages
from tradecounter.quotes.pages.staff.steps import QuoteStepPages
from tradecounter.returns.pages.staff.one_return import ReturnPages
from tradecounter.returns.pages.staff.return_list import ReturnListPages
from tradecounter.saved_views.pages.staff.views import SavedViewPages
from tradecounter.search.pages.staff.search import SearchPages
from tradecounter.sites.assembled import Pages, assembled
from tradecounter.storefront.pages.staff.as_customer import AsCustomerPages
from tradecounter.today.pages.staff.today import TodayPages
from tradecounter.webhooks.pages.both.webhooks import WebhookPages
from tradecounter.webhooks.pages.staff.webhooks import WebhookListPages

SUBJECTS: Sequence[type] = (
    TodayPages,
    OrderListPages,
    ChooseCustomerPages,  # before the page of an order: `/order/new` is no reference
    placed(NewOrderPages, BACK_OFFICE, OF_CALLER),
    OrderPages,
    ManyOrderPages,
    OrderStepPages,
    CancelPages,
    ShipmentPages,
    DebtorPages,
    RemindDebtorsPages,
    InvoicePages,
    CreditNotePages,
    VatPages,
    BankFilePages,
    BankHistoryPages,
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
    SearchPages,
    SavedViewPages,
    ConfirmPages,
    AmendPages,
    AfterSalePages,
    OrderPaperPages,
    RequestPages,
    QuoteListPages,
    QuotePages,
    QuoteStepPages,
    ReturnListPages,
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
    GroupPages,
    ProductPages,
    ProductFormPages,
    ManyProductsPages,
    ContractPricePages,
    PriceChangePages,
    GoodsInPages,
    CountPages,
    ImportCheckPages,
    ImportPages,
)
_NO_PAGES = ("/api", "/static/", "/check-health", "/ready")


def backoffice_pages(parts: OfficeParts, database: Database, clock: Clock, base_url: str | None) -> Pages:
    """Return the staff's pages."""
    return assembled(BACK_OFFICE, SUBJECTS, parts, parts.settings, database, clock, base_url)


def is_page(path: str) -> bool:
    """Return whether errors of a path are shown as pages."""
    return not path.startswith(_NO_PAGES)
