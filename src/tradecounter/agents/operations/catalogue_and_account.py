"""The tools that read the catalogue and the account, and that ask support."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Raw, Struct

from tradecounter.agents.operations.tools import Caller, tool
from tradecounter.billing.account_money import read_credit
from tradecounter.billing.invoices import shown_invoices
from tradecounter.billing.queries.invoice_records import InvoiceFilter, InvoiceRecord, fetch_own_invoice, list_invoices
from tradecounter.billing.wire import CustomerInvoice, own_invoice
from tradecounter.customer_requests.handle_requests import fetch_request, open_request
from tradecounter.customer_requests.wire import OpenRequestRequest, SupportRequest, own_request
from tradecounter.customers.operations.public import on_the_wire
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.queries.addresses import list_addresses
from tradecounter.customers.wire import Customer, SavedAddress
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import invalid, named_by
from tradecounter.kit.wire import Amount
from tradecounter.products.wire import Product
from tradecounter.storefront.find_in_view import ProductListParameters, Sort, find_products
from tradecounter.storefront.render import product_json, render_json
from tradecounter.storefront.storefront import RefreshableViews

_MOST = 50
_MOST_CHOICES = 100
_CALLED = {"category": "categories", "manufacturer": "manufacturers", "attribute": "attributes"}
_DETAILS = frozenset({"description", "short_description", "related_products", "similar_products"})


Choice = Annotated[str, Meta(max_length=500)]


class SearchProducts(Struct):
    """What to look for; products match all that is given."""

    query: Annotated[
        Annotated[str, Meta(max_length=500)] | None,
        Meta(description="Words of the product, or a SKU or an EAN.", examples=["ip phone"]),
    ] = None
    categories: Annotated[
        list[Choice], Meta(max_length=_MOST_CHOICES, description="Names or keys; a parent includes its children.")
    ] = []
    manufacturers: Annotated[list[Choice], Meta(max_length=_MOST_CHOICES, description="Keys of manufacturers.")] = []
    attributes: Annotated[
        list[Choice],
        Meta(
            max_length=_MOST_CHOICES,
            description="Filters `name<op>value` with =, or for numbers <, >, <=, >=.",
            examples=[["poe=true"]],
        ),
    ] = []
    in_stock: Annotated[bool, Meta(description="Only products in stock.")] = False
    sort: Annotated[Sort | None, Meta(description="By default the most relevant first.")] = None
    page: Annotated[int, Meta(ge=1, le=100_000, description="The page, from 1 on.")] = 1
    limit: Annotated[int, Meta(ge=1, le=_MOST, description=f"Products per page, at most {_MOST}.")] = 10


class FoundProducts(Struct):
    """Products at the customer's prices, with live stock."""

    total: Annotated[int, Meta(description="How many products match.")]
    products: Annotated[list[Product], Meta(description="The products of the page.")]


class GetProducts(Struct):
    """Products by their SKUs."""

    skus: Annotated[list[str], Meta(min_length=1, max_length=_MOST, description="SKUs, in upper or lower case.")]


class ProductsBySku(Struct):
    """Products with their descriptions, and which SKUs the customer cannot buy."""

    products: Annotated[list[Product], Meta(description="The products, in the order of the SKUs.")]
    unknown: Annotated[list[str], Meta(description="The SKUs that the customer cannot buy.")]


class CatalogueTools(Struct, frozen=True):
    """The tools that read the catalogue; they respond from memory."""

    views: RefreshableViews

    @tool("Search products", "read", gives=FoundProducts)
    async def search_products(self, caller: Caller, asked: SearchProducts) -> bytes:
        """Find products in the customer's catalogue.

        Prices are in pounds without VAT: `single_unit_cost` for 1 to 4 units of a line, `five_plus_unit_cost` for 5 to
        9, `ten_plus_unit_cost` from 10 on. `availability` says what is in stock.
        """
        view = await self.views.of(caller.customer_id)
        parameters = ProductListParameters(
            query=asked.query,
            category=tuple(asked.categories),
            manufacturer=tuple(asked.manufacturers),
            attribute=tuple(asked.attributes),
            in_stock="true" if asked.in_stock else None,
            sort=asked.sort,
        )
        with named_by(lambda name: _CALLED.get(name, name)):
            rows = find_products(view, parameters)
        start = (asked.page - 1) * asked.limit
        products = b"".join(render_json(view, rows[start : start + asked.limit]))
        return b'{"total":%d,"products":%b}' % (len(rows), products)

    @tool("Get products", "read", gives=ProductsBySku)
    async def get_products(self, caller: Caller, asked: GetProducts) -> ProductsBySku:
        """Read products by SKU, with descriptions, attributes, and the SKUs of related and similar products."""
        view = await self.views.of(caller.customer_id)
        skus = list(dict.fromkeys(asked.skus))
        found = {sku: view.find(sku) for sku in skus}
        products = [Raw(product_json(view, *each, _DETAILS)) for each in found.values() if each is not None]
        return ProductsBySku(products, [sku for sku, each in found.items() if each is None])  # type: ignore[arg-type]


class GetAccount(Struct):
    """Nothing is asked."""


class AccountCredit(Struct):
    """What the customer owes, and what is left."""

    credit_limit: Amount
    total_outstanding: Annotated[Amount, Meta(description="The unpaid gross of its confirmed orders.")]
    available_credit: Annotated[Amount, Meta(description="What new orders may cost together.")]


class AccountShown(Struct):
    """The customer, its credit and its address book."""

    customer: Customer
    credit: AccountCredit
    addresses: Annotated[list[SavedAddress], Meta(description="Saved addresses, to use in orders by their `id`.")]


class GetInvoice(Struct):
    """An invoice by its number, or all of an order."""

    number: Annotated[Annotated[int, Meta(ge=1, le=2**63 - 1)] | None, Meta(description="The invoice's number.")] = None
    order_reference: Annotated[
        Annotated[str, Meta(max_length=100)] | None, Meta(description="The order's reference.")
    ] = None


class Invoices(Struct):
    """Invoices with their lines."""

    invoices: Annotated[list[CustomerInvoice], Meta(description="The invoices, newest first, at most 50.")]


class AccountTools(Struct, frozen=True):
    """The tools that read the account, and that ask support."""

    database: Database
    clock: Clock

    @tool("Get the account", "account", agents=("order",))
    async def get_account(self, caller: Caller, asked: GetAccount) -> AccountShown:
        """Read who the customer is, its credit, and its saved addresses with their ids."""
        async with reading(self.database) as tx:
            account = await fetch_account(tx, caller.customer_id)
            credit = await read_credit(tx, caller.customer_id)
            addresses = await list_addresses(tx, caller.customer_id)
        left = credit.limit - credit.outstanding
        return AccountShown(on_the_wire(account), AccountCredit(credit.limit, credit.outstanding, left), addresses)

    @tool("Get invoices", "account", agents=("order",))
    async def get_invoice(self, caller: Caller, asked: GetInvoice) -> Invoices:
        """Read an invoice by its number, or the invoices of an order by the order's reference. Give one of the two."""
        async with reading(self.database) as tx:
            records = await self._records(tx, caller.customer_id, asked)
            found = await shown_invoices(tx, records, self.clock.now())
        return Invoices([own_invoice(invoice) for invoice in found])

    @tool("Ask support", "order", "account", changes=True)
    async def open_request(self, caller: Caller, asked: OpenRequestRequest) -> SupportRequest:
        """Ask support to cancel units of an order, to take dispatched units back, or anything else in words.

        Nothing changes until support has done it; the customer gets the answer by e-mail. A message needs the scope
        `account`.
        """
        if asked.kind == "message":
            caller.sender.require_one_of("account")
        now = self.clock.now()
        async with transaction(self.database, caller.actor) as tx:
            request_id = await open_request(tx, caller.customer_id, asked.order_reference, asked.kind, asked, now)
            return own_request(await fetch_request(tx, request_id))

    async def _records(self, tx: Transaction, customer_id: int, asked: GetInvoice) -> Sequence[InvoiceRecord]:
        if (asked.number is None) == (asked.order_reference is None):
            raise invalid("number", "give the number of an invoice, or the order_reference of its order")
        if asked.number is not None:
            return [await fetch_own_invoice(tx, customer_id, asked.number)]
        wanted = InvoiceFilter(customer_id=customer_id, order_reference=asked.order_reference)
        return await list_invoices(tx, wanted, _MOST, 0)
