"""The back office: the reseller's own site, with an index, an interface document and a reference of its own."""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from msgspec import Meta, Struct
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from tradecounter.alerts.operations import AlertOperations
from tradecounter.approvals.operations import ApprovalOperations
from tradecounter.audit.operations import AuditOperations
from tradecounter.billing.operations.staff import InvoiceOperations, StatementOperations
from tradecounter.credit_notes.operations.staff import CreditNoteOperations
from tradecounter.customer_notes.operations import CustomerNoteOperations
from tradecounter.customer_requests.operations import RequestOperations
from tradecounter.customers.operations.staff import AddressOperations, CustomerOperations, CustomerStepOperations
from tradecounter.db.changes import Versions
from tradecounter.db.pool import Database
from tradecounter.db.refresher import OutdatedData
from tradecounter.db.transaction import Transaction
from tradecounter.docs_pages.reference import render_reference
from tradecounter.edge.openapi.document import document_endpoints
from tradecounter.edge.openapi.introduction import BACK_OFFICE
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.page_kit.page import BackOfficeStatic, Page, StaticEndpoint, page_at
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import ANY_ADDRESS, Endpoint, endpoints_of
from tradecounter.edge.server.client_address import read_networks
from tradecounter.events.feed import EventFeed
from tradecounter.events.operations import EventOperations
from tradecounter.goods_in.operations import GoodsInOperations
from tradecounter.identity.admission import Admission
from tradecounter.identity.installation_secret import secret_key, secret_keys
from tradecounter.imports.operations import ImportOperations, PriceChangeOperations
from tradecounter.imports.uploads import ImportUploads
from tradecounter.jobs.operations import JobOperations
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.orders.operations.staff import OrderOperations
from tradecounter.orders.order_context import OrderContexts, OrderingPolicy
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.present_order import OrderPresenter
from tradecounter.payments.operations.bank_files import BankOperations
from tradecounter.payments.operations.payments import PaymentOperations, RemittanceOperations
from tradecounter.products.operations.public import PictureEndpoints
from tradecounter.products.operations.staff import ProductOperations
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.quotes.operations.staff import QuoteOperations
from tradecounter.returns.operations import ReturnOperations
from tradecounter.saved_lists.operations import SavedListOperations
from tradecounter.saved_views.operations import SavedViewOperations
from tradecounter.settings import Settings
from tradecounter.shipments.operations import ShipmentOperations
from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.queries.fulfilment import OrderFulfilment
from tradecounter.shipping.methods import ShippingMethods
from tradecounter.sites.back_office_pages import backoffice_pages, is_page
from tradecounter.sites.http.back_office_gate import AllowedNetworks, StaffGate
from tradecounter.sites.http.health import HealthEndpoints
from tradecounter.sites.http.site import Site
from tradecounter.storefront.storefront import RefreshableViews, Storefront
from tradecounter.storefront.view import CustomerView
from tradecounter.webhooks.manage import WebhookPolicy
from tradecounter.webhooks.operations import WebhookOperations


class BackOfficeDocumentation(Struct):
    """The addresses of the interface documents and the reference."""

    openapi_json: Annotated[str, Meta(description="The interface document as JSON.")]
    openapi_yaml: Annotated[str, Meta(description="The interface document as YAML.")]
    reference: Annotated[str, Meta(description="The reference of all operations and fields.")]


class BackOfficeService(Struct):
    """The back office and its documentation."""

    name: Annotated[str, Meta(description="The site's name.")]
    documentation: BackOfficeDocumentation


def _index(base_url: str) -> BackOfficeService:
    addresses = (f"{base_url}/api/{name}" for name in ("openapi.json", "openapi.yaml", "docs"))
    return BackOfficeService("Tradecounter back office", BackOfficeDocumentation(*addresses))


_INDEX = Described("The addresses of the documents.", _index("https://backoffice.example"), "Index")
_SERVICE = Subject(tag="Service", public=True, described={BackOfficeService: _INDEX})


class BackOfficeIndex(Struct, frozen=True):
    """The index."""

    @_SERVICE.shows("/api")
    async def get_index(self, call: Call) -> BackOfficeService:
        """The back office and its documentation."""
        return _index(call.base_url)


class BackOffice(Site):
    """The back office. It loads the catalogue when somebody first searches for a product or looks at an order."""

    name = "backoffice"
    about = BACK_OFFICE

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
        self._app = self.assemble(
            [*self.endpoints, *self._documentation()],
            StaffGate(self.admission, database, clock),
            backoffice_pages(self.parts, database, clock, settings.backoffice_url),
            is_page,
            around=lambda app: AllowedNetworks(app, networks, self.admission),
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

    def _parts(self, settings: Settings, clock: Clock) -> OfficeParts:
        return OfficeParts(
            views=self._views,
            contexts=OrderContexts(self._views.for_order, self._methods, OrderingPolicy.from_settings(settings)),
            settings=settings,
            orders=OrderPresenter(self._views, OrderFulfilment(ProvisioningVault(lambda: secret_keys(settings)))),
            letterhead=letterhead_from(settings),
            uploads=ImportUploads(self.database, clock),
        )

    def _endpoints(self, settings: Settings, clock: Clock) -> list[Endpoint]:
        desk = Desk(self.database, clock)
        orders = self.parts.orders
        letterhead = self.parts.letterhead
        groups = (
            OrderOperations(desk, orders, self.parts.contexts, letterhead, settings.invoice_each_dispatch),
            ShipmentOperations(desk, orders, letterhead),
            QuoteOperations(desk, orders, self.parts.contexts.policy, lambda: secret_key(settings)),
            ReturnOperations(desk, letterhead),
            RequestOperations(desk),
            ApprovalOperations(desk, self.parts.contexts),
            SavedViewOperations(desk),
            CustomerOperations(desk, lambda: secret_key(settings)),
            CustomerStepOperations(desk),
            AddressOperations(desk),
            CustomerNoteOperations(desk),
            SavedListOperations(desk, self._views),
            AlertOperations(desk),
            InvoiceOperations(desk),
            CreditNoteOperations(desk, letterhead),
            StatementOperations(desk, letterhead),
            PaymentOperations(desk),
            BankOperations(desk),
            RemittanceOperations(desk),
            ProductOperations(desk, self._views),
            GoodsInOperations(desk),
            ImportOperations(desk),
            PriceChangeOperations(desk, self._views),
            JobOperations(desk),
            AuditOperations(desk),
            EventOperations(EventFeed(self.database, self.stopping)),
            WebhookOperations(desk, WebhookPolicy.from_settings(settings)),
            BackOfficeIndex(),
        )
        return [
            *(endpoint for group in groups for endpoint in endpoints_of(group)),
            *document_endpoints(lambda: self.document(ANY_ADDRESS), "/api"),
            *endpoints_of(HealthEndpoints(self._state())),
        ]

    def _documentation(self) -> list[Endpoint]:
        def reference() -> Page:
            document = self.document(ANY_ADDRESS)
            return render_reference(document, self.operations, for_staff=True, sandbox=self._settings.sandbox)

        return [
            page_at("/api/docs", "The reference of the back-office API", reference),
            *endpoints_of(BackOfficeStatic()),
            *endpoints_of(StaticEndpoint()),
            *endpoints_of(PictureEndpoints(self.database)),
        ]


_RETRY_SECONDS = 5
_NOT_LOADED = f"the products cannot be loaded at present; try again in {_RETRY_SECONDS} seconds"


class LoadOnDemand(Struct):
    """Refreshes a storefront from the moment when `wanted` is set. Until it is `loaded`, nothing of it is outdated."""

    storefront: Storefront
    wanted: bool = False
    loaded: bool = False

    async def refresh(self, tx: Transaction, versions: Versions) -> OutdatedData | None:
        """Load the parts that have changed, if they are wanted."""
        if not self.wanted:
            return None
        found = await self.storefront.refresh(tx, versions)
        self.loaded = self.loaded or found.verified_at > -math.inf
        return found if self.loaded else OutdatedData(versions.read_at, found.under_way)


class ViewsOnDemand(RefreshableViews, frozen=True):
    """Customers' views and the catalogue; the first request for one loads it."""

    loading: LoadOnDemand

    async def last(self, customer_id: int) -> CustomerView:
        """Return the customer's view even if it is stale. Raises DomainError (not found)."""
        await self._load()
        return await RefreshableViews.last(self, customer_id)

    async def snapshot(self) -> CatalogueSnapshot:
        """Return the catalogue, without what changed within the last second."""
        await self._load()
        return await RefreshableViews.snapshot(self)

    async def _load(self) -> None:
        """Wait for the first load. Raises DomainError (unavailable) if it fails."""
        self.loading.wanted = True
        if not self.loading.loaded:
            await self.refresher.refresh()
            if not self.loading.loaded:
                raise DomainError(Kind.UNAVAILABLE, _NOT_LOADED, retry_after=_RETRY_SECONDS)
