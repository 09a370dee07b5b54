"""The public site: the customers' API with the endpoints of all slices, its index and its documentation."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from tradecounter.agents.issue_tokens import TokenIssuer
from tradecounter.agents.operations.account import AccountTools
from tradecounter.agents.operations.catalogue import CatalogueTools
from tradecounter.agents.operations.orders import OrderTools
from tradecounter.agents.operations.server import AgentServer, ConnectingEndpoints
from tradecounter.agents.operations.tools import tools_of
from tradecounter.agents.registration import MCP_PATH
from tradecounter.billing.operations.public import BillingEndpoints, StatementEndpoints
from tradecounter.consent.issuer import OwnIssuer
from tradecounter.consent.operations import IssuerEndpoints
from tradecounter.credit_notes.operations.public import CreditNoteEndpoints
from tradecounter.customer_requests.operations import RequestEndpoints
from tradecounter.customers.operations.public import CustomerEndpoints
from tradecounter.db.pool import Database
from tradecounter.docs_pages.changelog import (
    Release,
    changelog_feed,
    read_changelog,
    render_changelog,
    written_changelog,
)
from tradecounter.docs_pages.for_programs import MARKDOWN, PLAIN, SecurityText, llms_text, reference_markdown
from tradecounter.docs_pages.guide import guide_source, render_guide
from tradecounter.docs_pages.reference import render_reference
from tradecounter.edge.openapi.document import document_endpoints
from tradecounter.edge.openapi.introduction import PUBLIC
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.page_kit.page import Page, StaticEndpoint, page_at
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.headers import LINK
from tradecounter.edge.rest.operation import ANY_ADDRESS, EXAMPLE_ADDRESS, Endpoint, endpoints_of
from tradecounter.edge.rest.record_lists import RecordLists
from tradecounter.edge.rest.responses import json_response
from tradecounter.events.feed import EventFeed
from tradecounter.events.operations import EventEndpoints
from tradecounter.feeds.operations import FeedEndpoints
from tradecounter.identity.admission import Admission
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.oauth.client_requests import ClientDesk
from tradecounter.identity.oauth.exchange_token import TokenExchange
from tradecounter.identity.oauth.issuer import Issuer
from tradecounter.identity.operations import TokenEndpoint
from tradecounter.kit.clock import Clock
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.orders.operations.public import OrderCreation, OrderEndpoints
from tradecounter.orders.order_context import OrderContexts, OrderingPolicy
from tradecounter.parts.account import AccountParts
from tradecounter.payments.operations.public import PaymentEndpoints
from tradecounter.products.operations.public import CatalogueEndpoints, PictureEndpoints
from tradecounter.quotes.operations.public import QuoteEndpoints
from tradecounter.request_log.operations import RequestLogEndpoints
from tradecounter.request_log.recorder import RequestRecorder
from tradecounter.settings import Settings
from tradecounter.shipments.operations import FulfilmentEndpoints
from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.queries.fulfilment import OrderFulfilment
from tradecounter.shipping.methods import ShippingMethods
from tradecounter.sites.account_pages import account_pages, is_page
from tradecounter.sites.http.customer_gate import AgentGate, CustomerGate, FeedGate
from tradecounter.sites.http.fast_path.middleware import ResponseCacheMiddleware
from tradecounter.sites.http.fast_path.short_responses import ShortResponses
from tradecounter.sites.http.health import HealthEndpoints
from tradecounter.sites.http.site import Site
from tradecounter.storefront.changes.cursor import Cursors
from tradecounter.storefront.changes.follow import ChangeFeed
from tradecounter.storefront.changes.followers import Followers
from tradecounter.storefront.operations import ChangeEndpoints, ProductEndpoints
from tradecounter.storefront.storefront import RefreshableViews, Storefront


class Documentation(Struct):
    """The URLs of the interface documents, the reference and the guide."""

    openapi_json: Annotated[str, Meta(description="The interface document as JSON.")]
    openapi_yaml: Annotated[str, Meta(description="The interface document as YAML.")]
    reference: Annotated[str, Meta(description="The reference of all operations and fields, with a form to try them.")]
    guide: Annotated[str, Meta(description="The guide for customers.")]


class ServiceIndex(Struct):
    """The service and its documentation."""

    name: Annotated[str, Meta(description="The service's name.")]
    documentation: Documentation


def _index(base_url: str) -> ServiceIndex:
    addresses = (f"{base_url}/{name}" for name in ("openapi.json", "openapi.yaml", "docs", "guide"))
    return ServiceIndex("Tradecounter", Documentation(*addresses))


_INDEX = Described("The URLs of the interface documents.", _index(EXAMPLE_ADDRESS), "Index")
_SERVICE = Subject(tag="Service", public=True, described={ServiceIndex: _INDEX})


class IndexEndpoints(Struct, frozen=True):
    """The index."""

    @_SERVICE.shows("/", headers=(LINK,))
    async def get_index(self, call: Call) -> ServiceIndex | Response:
        """The service and its documentation.

        The `Link` header also has the URLs of the interface documents.
        """
        index = _index(call.base_url)
        named = index.documentation
        links = (
            f'<{named.openapi_json}>; rel="service-desc"; type="application/json", '
            f'<{named.openapi_yaml}>; rel="service-desc"; type="application/yaml", '
            f'<{named.reference}>; rel="service-doc"; type="text/html", '
            f'<{named.guide}>; rel="help"; type="text/html"'
        )
        return json_response(index, headers={"Link": links})


class Application(Site):
    """The public site."""

    name = "public"
    about = PUBLIC

    def __init__(self, settings: Settings, database: Database, clock: Clock, *, alone: bool = False) -> None:
        """Assemble the API; `alone` means that the process runs nothing else."""
        admission = Admission.from_settings(settings, database, clock)
        super().__init__(settings, database, admission, settings.base_url, alone=alone)
        cursors = Cursors(lambda: secret_keys(settings))
        self.storefront = Storefront(
            clock, settings.low_stock, self.catalogue_source, freshness=self.freshness, cursors=cursors
        )
        self.methods = ShippingMethods()
        self.recorder = recorder = RequestRecorder(clock)

        async def share(shared: Database) -> None:
            await self.admission.share(shared)
            await recorder.share(shared, is_last=self.stopping.is_set())

        self.follow((self.admission, self.methods, self.storefront), share)
        self._parts = self._account_parts(settings)
        self._creation = OrderCreation(database, self._parts.contexts, clock)
        self._products = ProductEndpoints(self._parts.views)
        self.followers = Followers(self.storefront, self.stopping)
        self.refresher.is_followed = lambda: len(self.followers) > 0
        self.changes = ChangeFeed(self._parts.views, self.followers, cursors, clock, settings.keep_changes)
        self.endpoints = self._endpoints(settings, clock)
        self.agents = self._agent_server(settings, clock)
        app = self.assemble(
            [*self.endpoints, *self._documentation(clock)],
            CustomerGate(self.admission),
            account_pages(self._parts, database, clock, settings.base_url),
            is_page,
            others=[self._feeds(clock)],
            programs=[Route(MCP_PATH, self.agents)],
            cors_origins=settings.cors_origins,
        )
        self.fast_path = ResponseCacheMiddleware(
            app,
            ShortResponses(self._products, self.operations, self.base_url_of, self.standing_headers),
            self.storefront,
            self.admission,
            self.requests,
            recorder,
            settings.answer_memory,
            log_requests=settings.log_requests,
        )
        self.storefront.before_shown = self.fast_path.renewal.renew
        self.response_cache = self.fast_path.cache

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or the lifespan."""
        await self.fast_path(scope, receive, send)

    def _account_parts(self, settings: Settings) -> AccountParts:
        views = RefreshableViews(self.storefront, self.refresher, self.freshness)
        contexts = OrderContexts(views.for_order, self.methods, OrderingPolicy.from_settings(settings))
        fulfilment = OrderFulfilment(ProvisioningVault(lambda: secret_keys(settings)))
        return AccountParts(views=views, contexts=contexts, settings=settings, fulfilment=fulfilment)

    def _endpoints(self, settings: Settings, clock: Clock) -> list[Endpoint]:
        views = self._parts.views
        creation = self._creation
        fulfilment = self._parts.fulfilment
        own_issuer = OwnIssuer.from_settings(settings, self.database, clock)
        issuer = Issuer.from_settings(settings, clock)
        exchange = TokenExchange(self.database, clock, issuer or own_issuer, settings.access_token_lifetime)
        clients = ClientDesk(self.database, self.admission)
        desk = Desk(self.database, clock)
        lists = RecordLists(self.database)
        groups = (
            self._products,
            ChangeEndpoints(self.changes),
            CatalogueEndpoints(lambda: self.storefront.snapshot),
            OrderEndpoints(self.database, views, clock, creation, fulfilment),
            QuoteEndpoints(desk, creation, lists),
            RequestEndpoints(desk, lists),
            FulfilmentEndpoints(desk, views, fulfilment),
            CustomerEndpoints(desk),
            BillingEndpoints(desk, lists),
            CreditNoteEndpoints(desk, lists),
            StatementEndpoints(desk, lambda: letterhead_from(settings)),
            PaymentEndpoints(lists),
            EventEndpoints(EventFeed(self.database, self.stopping)),
            RequestLogEndpoints(desk),
            TokenEndpoint(exchange, clients, settings.base_url),
            *([] if issuer else self._issuer(own_issuer, clients, settings, clock)),
            IndexEndpoints(),
        )
        return [
            *(endpoint for group in groups for endpoint in endpoints_of(group)),
            *document_endpoints(lambda: self.document(ANY_ADDRESS)),
            *endpoints_of(HealthEndpoints(self._state())),
        ]

    def _issuer(self, issuer: OwnIssuer, clients: ClientDesk, settings: Settings, clock: Clock) -> list[object]:
        agents = TokenIssuer(settings.access_token_lifetime)
        return [
            IssuerEndpoints(issuer, clients, agents, clock, settings.base_url),
            ConnectingEndpoints(self.database, clock, settings.base_url, settings.seller_name),
        ]

    def _agent_server(self, settings: Settings, clock: Clock) -> AgentServer:
        views = self._parts.views
        creation = self._creation
        fulfilment = self._parts.fulfilment
        groups = (
            CatalogueTools(views),
            OrderTools(self.database, views, creation, fulfilment, clock),
            AccountTools(self.database, clock),
        )
        tools = [tool for group in groups for tool in tools_of(group)]
        return AgentServer(
            tools,
            AgentGate(self.admission, self.database, clock).admit,
            settings.base_url,
            settings.cors_origins,
            settings.max_body_bytes,
            issues_tokens=settings.auth_url is None,
        )

    @asynccontextmanager
    async def running(self, router: Router | None = None) -> AsyncIterator[None]:
        """Serve agents too while the block runs."""
        async with super().running(router), self.agents.running():
            yield

    def _feeds(self, clock: Clock) -> tuple[list[Endpoint], FeedGate]:
        endpoints = endpoints_of(FeedEndpoints(self._parts.views, self._settings.vat_rate))
        return [*endpoints], FeedGate(self.admission, self.database, clock)

    def _documentation(self, clock: Clock) -> list[Endpoint]:
        settings = self._settings
        sandbox = settings.sandbox
        operations = self.operations

        def document() -> dict[str, Any]:
            return self.document(ANY_ADDRESS)

        def changes() -> list[Release]:
            return read_changelog(written_changelog())

        return [
            page_at("/docs", "The API reference", lambda: render_reference(document(), operations, sandbox=sandbox)),
            page_at("/guide", "The guide for API customers", lambda: render_guide(document(), sandbox=sandbox)),
            page_at(
                "/changelog",
                "What changes for customers",
                lambda: render_changelog(changes(), operations, sandbox=sandbox),
            ),
            page_at("/changelog.json", "The same as a JSON feed", lambda: changelog_feed(changes())),
            page_at(
                "/llms.txt",
                "Where agents find what they need",
                lambda: Page.of(llms_text(document(), settings.seller_name), PLAIN),
            ),
            page_at("/guide.md", "The guide as Markdown", lambda: Page.of(guide_source(), MARKDOWN)),
            page_at(
                "/docs.md",
                "The reference as Markdown",
                lambda: Page.of(reference_markdown(document(), operations), MARKDOWN),
            ),
            *endpoints_of(SecurityText(settings.security_contact, clock)),
            *endpoints_of(StaticEndpoint()),
            *endpoints_of(PictureEndpoints(self.database)),
        ]
