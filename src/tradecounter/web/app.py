"""Assembles the API: all slices' endpoints, the middleware, the data in memory."""

import asyncio
import gc
import re
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from tradecounter.billing.http import BillingEndpoints
from tradecounter.catalogue.http import CatalogueEndpoints
from tradecounter.customers.http import CustomerEndpoints
from tradecounter.db.freshness import Freshness
from tradecounter.db.pool import Database
from tradecounter.db.refresher import Refresher
from tradecounter.docs_pages.guide import render_guide
from tradecounter.docs_pages.http import DocsPages
from tradecounter.docs_pages.reference import render_reference
from tradecounter.events.feed import EventFeed
from tradecounter.events.http import EventEndpoints
from tradecounter.fulfilment.http import FulfilmentEndpoints
from tradecounter.fulfilment.provisioning_vault import ProvisioningVault
from tradecounter.fulfilment.queries.reads import OrderFulfilment
from tradecounter.identity.admission import Admission
from tradecounter.identity.http import TokenEndpoint
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.oauth.exchange_token import TokenExchange
from tradecounter.identity.oauth.issuer import Issuer
from tradecounter.kit.clock import Clock
from tradecounter.ordering.create.respond import OrderCreation
from tradecounter.ordering.http import OrderEndpoints
from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.ordering.quotes.http import QuoteEndpoints
from tradecounter.page_kit.static_files import StaticEndpoint
from tradecounter.rest.any_address import ANY_ADDRESS
from tradecounter.rest.operation import Endpoint, Operation, endpoints_of
from tradecounter.settings import Settings
from tradecounter.shipping.methods import ShippingMethods
from tradecounter.storefront.http import ProductEndpoints
from tradecounter.storefront.refreshable_views import RefreshableViews
from tradecounter.storefront.storefront import Storefront
from tradecounter.web.compression import Compression
from tradecounter.web.connection.connections import Connections
from tradecounter.web.cross_origin import cross_origin
from tradecounter.web.descriptors import fitting_connections
from tradecounter.web.errors import ErrorMiddleware
from tradecounter.web.fast_path.middleware import ResponseCacheMiddleware
from tradecounter.web.health import HealthEndpoints, ProcessState
from tradecounter.web.index import IndexEndpoints
from tradecounter.web.openapi.document import build_document, encode_document
from tradecounter.web.request_context import RequestContextMiddleware
from tradecounter.web.resource import Resource
from tradecounter.web.security_headers import security_headers
from tradecounter.web.unknown_address import unknown_address
from tradecounter.web.whole_responses import WholeResponses


class Application:
    """The API as an ASGI application, whose lifespan opens the database and keeps the data in memory fresh."""

    def __init__(self, settings: Settings, database: Database, clock: Clock, *, alone: bool = False) -> None:
        """Assemble the API; `alone` means that the process runs nothing else."""
        self.database = database
        self._alone = alone
        self.freshness = Freshness(settings.stale_after)
        self.storefront = Storefront(clock, settings.low_stock, database.url, freshness=self.freshness)
        self.methods = ShippingMethods()
        self.admission = Admission.from_settings(settings, database, clock)
        self.stopping = asyncio.Event()
        self.connections = Connections(
            settings.max_connections, settings.max_connections_per_address, self.admission.addresses.trusts
        )
        self._refreshing = Database(database.url, connections=1, for_requests=True)
        self.refresher = Refresher(
            self._refreshing,
            (self.admission, self.methods, self.storefront),
            settings.refresh_interval,
            freshness=self.freshness,
            shared=database,
            afterwards=self.admission.share,
        )
        self.endpoints = self._endpoints(settings, clock)
        self._settings = settings
        self.routes = self._routes()
        unknown = unknown_address([route.path for route in self.routes])
        router = Router(self.routes, redirect_slashes=False, default=unknown, lifespan=self.running)
        app = WholeResponses(cross_origin(Compression(ErrorMiddleware(router)), settings.cors_origins))
        self.standing_headers = security_headers(settings.base_url)
        logs = settings.log_requests
        context = RequestContextMiddleware(app, self.standing_headers, self.admission.addresses, log_requests=logs)
        self.fast_path = ResponseCacheMiddleware(
            context, self.storefront, self.admission, settings.answer_memory, log_requests=logs
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or the lifespan."""
        await self.fast_path(scope, receive, send)

    def document(self, base_url: str) -> dict[str, Any]:
        """Return the interface document for a base URL."""
        return build_document(self._operations, base_url, self._settings.seller_name)

    @property
    def _operations(self) -> list[Operation]:
        return [endpoint.operation for endpoint in self.endpoints]

    def _endpoints(self, settings: Settings, clock: Clock) -> list[Endpoint]:
        views = RefreshableViews(self.storefront, self.refresher, self.freshness)
        policy = OrderingPolicy.from_settings(settings)
        creation = OrderCreation(self.database, views, self.methods, policy, clock)
        fulfilment = OrderFulfilment(ProvisioningVault(lambda: secret_keys(settings)))
        issuer = Issuer.from_settings(settings, clock)
        exchange = TokenExchange(self.database, clock, issuer, settings.access_token_lifetime)
        documents = cache(lambda: encode_document(self.document(ANY_ADDRESS)))
        groups = (
            ProductEndpoints(views),
            CatalogueEndpoints(lambda: self.storefront.snapshot),
            OrderEndpoints(self.database, views, clock, creation, fulfilment),
            QuoteEndpoints(self.database, clock, creation),
            FulfilmentEndpoints(self.database, views, fulfilment, clock),
            CustomerEndpoints(self.database, clock),
            BillingEndpoints(self.database, clock),
            EventEndpoints(EventFeed(self.database, self.stopping)),
            TokenEndpoint(exchange, self.admission, settings.base_url),
            IndexEndpoints(lambda base_url: documents().at(base_url)),
            HealthEndpoints(ProcessState(self.freshness, self.refresher, self.stopping, self.admission.addresses)),
        )
        return [endpoint for group in groups for endpoint in endpoints_of(group)]

    def _routes(self) -> list[Route]:
        pages = DocsPages(
            reference=cache(lambda: render_reference(self.document(ANY_ADDRESS), self._operations)),
            guide=cache(lambda: render_guide(self.document(ANY_ADDRESS))),
        )
        by_path: defaultdict[str, list[Endpoint]] = defaultdict(list)
        for endpoint in [*self.endpoints, *endpoints_of(pages), *endpoints_of(StaticEndpoint())]:
            by_path[endpoint.operation.path].append(endpoint)
        return [
            _route(path, endpoints, Resource(endpoints, self.admission, self._base_url, self._settings.max_body_bytes))
            for path, endpoints in by_path.items()
        ]

    def _base_url(self, request: Request) -> str:
        return self._settings.base_url or str(request.base_url).rstrip("/")

    @asynccontextmanager
    async def running(self, _router: Router | None = None) -> AsyncIterator[None]:
        """Keep the database open and the data in memory fresh while the block runs."""
        self.connections.most = fitting_connections(self._settings.max_connections, self._settings.database_connections)
        async with self.database, self._refreshing, self.refresher.running():
            if self._alone:
                # Exclude the loaded data from garbage collection, which would block requests for a tenth of a second.
                gc.collect()
                gc.freeze()
            yield


def _route(path: str, endpoints: list[Endpoint], resource: Resource) -> Route:
    for parameter in endpoints[0].operation.path_parameters:
        if parameter.takes_slashes:
            path = path.replace(f"{{{parameter.name}}}", f"{{{parameter.name}:path}}")
    route = Route(path, resource)
    # Starlette's pattern ignores a line break at a path's end (`PHONE%0A` would be `PHONE`), and accepts an
    # empty rest of a path (`/product/`).
    pattern = route.path_regex.pattern.removesuffix("$").replace(">.*)", ">.+)")
    route.path_regex = re.compile(pattern + r"\Z", re.DOTALL)
    return route
