"""The back office: the reseller's own site, with an interface document and a reference of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from tradecounter.backoffice.addresses import AddressOperations
from tradecounter.backoffice.bank_files import BankOperations
from tradecounter.backoffice.billing import BillingOperations
from tradecounter.backoffice.customer_steps import CustomerStepOperations
from tradecounter.backoffice.customers import CustomerOperations
from tradecounter.backoffice.desk import Desk
from tradecounter.backoffice.events import EventOperations
from tradecounter.backoffice.gate import AllowedNetworks, StaffGate
from tradecounter.backoffice.imports import ImportOperations
from tradecounter.backoffice.operations import JobOperations
from tradecounter.backoffice.order_context import OrderContexts
from tradecounter.backoffice.order_entry import OrderEntryOperations
from tradecounter.backoffice.order_papers import OrderPaperOperations
from tradecounter.backoffice.orders import OrderOperations
from tradecounter.backoffice.payments import PaymentOperations
from tradecounter.backoffice.present_order import OrderPresenter
from tradecounter.backoffice.products import ProductOperations
from tradecounter.backoffice.quotes import QuoteOperations
from tradecounter.backoffice.returns import ReturnOperations
from tradecounter.backoffice.shipments import ShipmentOperations
from tradecounter.backoffice.webhooks import WebhookOperations
from tradecounter.db.changes import Versions
from tradecounter.db.pool import Database
from tradecounter.db.refresher import Behind
from tradecounter.db.transaction import Transaction
from tradecounter.docs_pages.http import BackOfficeDocs
from tradecounter.docs_pages.reference import render_reference
from tradecounter.events.feed import EventFeed
from tradecounter.fulfilment.provisioning_vault import ProvisioningVault
from tradecounter.fulfilment.queries.reads import OrderFulfilment
from tradecounter.identity.admission import Admission
from tradecounter.identity.client_address import read_networks
from tradecounter.identity.installation_secret import secret_key, secret_keys
from tradecounter.kit.clock import Clock
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.page_kit.static_files import BackOfficeStatic, StaticEndpoint
from tradecounter.pages.backoffice.imports.uploads import Uploads
from tradecounter.pages.backoffice.parts import OfficeParts
from tradecounter.pages.backoffice.site import backoffice_pages, is_page
from tradecounter.pages.error_pages import ErrorPagesMiddleware
from tradecounter.rest.any_address import ANY_ADDRESS
from tradecounter.rest.operation import Endpoint, endpoints_of
from tradecounter.settings import Settings
from tradecounter.shipping.methods import ShippingMethods
from tradecounter.storefront.refreshable_views import RefreshableViews
from tradecounter.storefront.storefront import Storefront
from tradecounter.storefront.view import CustomerView
from tradecounter.web.backoffice_index import BackOfficeIndex
from tradecounter.web.health import HealthEndpoints
from tradecounter.web.openapi.document import build_document, encode_document
from tradecounter.web.openapi.introduction import BACK_OFFICE
from tradecounter.web.site import Site
from tradecounter.webhooks.manage import WebhookPolicy


class BackOffice(Site):
    """The back office. It loads the catalogue when an order is first shown, which few processes need."""

    name = "backoffice"

    def __init__(self, settings: Settings, database: Database, clock: Clock, *, alone: bool = False) -> None:
        """Assemble the back office; `alone` means that its process does nothing else until it ends."""
        admission = Admission.from_settings(settings, database, clock)
        super().__init__(settings, database, admission, settings.backoffice_url, alone=alone)
        self.storefront = Storefront(clock, settings.low_stock, self.catalogue_source, freshness=self.freshness)
        loading = LoadOnDemand(self.storefront)
        self._methods = ShippingMethods()
        self.follow((self.admission, self._methods, loading))
        self._views = ViewsOnDemand(self.storefront, self.refresher, self.freshness, loading)
        self.parts = self._parts(settings, clock)
        self.endpoints = self._endpoints(settings, clock)
        networks = read_networks(settings.backoffice_networks)
        pages = backoffice_pages(self.parts, database, clock, settings.backoffice_url)
        self._app = self.assemble(
            [*self.endpoints, *self._documentation()],
            StaffGate(self.admission, database, clock),
            pages=pages.endpoints,
            page_gate=pages.gate,
            around=lambda app: AllowedNetworks(
                ErrorPagesMiddleware(app, pages.errors, is_page), networks, self.admission
            ),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request, or run the lifespan."""
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def running(self, _router: Router | None = None) -> AsyncIterator[None]:
        """Keep the database open while the block runs; at its end, stop the imports that pages have begun."""
        async with super().running(_router):
            try:
                yield
            finally:
                await self.parts.uploads.close()

    def document(self, base_url: str) -> dict[str, Any]:
        """Return the interface document for a base URL."""
        return build_document(self.operations, base_url, self._settings.seller_name, BACK_OFFICE)

    def _parts(self, settings: Settings, clock: Clock) -> OfficeParts:
        return OfficeParts(
            OrderPresenter(self._views, OrderFulfilment(ProvisioningVault(lambda: secret_keys(settings)))),
            OrderContexts(self._views, self._methods, OrderingPolicy.from_settings(settings)),
            letterhead_from(settings),
            settings,
            Uploads(self.database, clock),
        )

    def _endpoints(self, settings: Settings, clock: Clock) -> list[Endpoint]:
        desk = Desk(self.database, clock)
        orders, letterhead = self.parts.orders, self.parts.letterhead
        documents = cache(lambda: encode_document(self.document(ANY_ADDRESS)))
        groups = (
            OrderOperations(desk, orders, letterhead, settings.invoice_each_dispatch),
            ShipmentOperations(desk, orders),
            OrderEntryOperations(desk, orders, self.parts.contexts),
            OrderPaperOperations(desk, letterhead),
            ReturnOperations(desk, letterhead),
            QuoteOperations(desk, settings.quote_lifetime, lambda: secret_key(settings)),
            CustomerOperations(desk, lambda: secret_key(settings)),
            CustomerStepOperations(desk),
            AddressOperations(desk),
            BillingOperations(desk, letterhead),
            PaymentOperations(desk),
            BankOperations(desk),
            ProductOperations(desk),
            ImportOperations(desk),
            JobOperations(desk),
            EventOperations(EventFeed(self.database, self.stopping)),
            WebhookOperations(desk, WebhookPolicy.from_settings(settings)),
            BackOfficeIndex(lambda base_url: documents().at(base_url)),
            HealthEndpoints(self._state()),
        )
        return [endpoint for group in groups for endpoint in endpoints_of(group)]

    def _documentation(self) -> list[Endpoint]:
        docs = BackOfficeDocs(
            cache(lambda: render_reference(self.document(ANY_ADDRESS), self.operations, for_staff=True))
        )
        return [*endpoints_of(docs), *endpoints_of(BackOfficeStatic()), *endpoints_of(StaticEndpoint())]


@dataclass(slots=True)
class LoadOnDemand:
    """Refreshes a storefront from the moment when `wanted` is set."""

    storefront: Storefront
    wanted: bool = False

    async def refresh(self, tx: Transaction, versions: Versions) -> Behind | None:
        """Load the parts that have changed, if they are wanted."""
        return await self.storefront.refresh(tx, versions) if self.wanted else None


@dataclass(frozen=True, slots=True)
class ViewsOnDemand(RefreshableViews):
    """Customers' views; the first request for one loads the catalogue."""

    loading: LoadOnDemand

    async def last(self, customer_id: int) -> CustomerView:
        """Return the customer's view even if it is stale. Raises DomainError (not found)."""
        if not self.loading.wanted:
            self.loading.wanted = True
            await self.refresher.refresh()
        return await RefreshableViews.last(self, customer_id)
