"""What both sites consist of: routes, figures, middleware, the data that follows the database, and the lifespan."""

import asyncio
import gc
import math
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import cache, lru_cache
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from tradecounter.db.pool import Database
from tradecounter.db.refresher import Freshness, Refreshable, Refresher
from tradecounter.edge.openapi.document import build_document
from tradecounter.edge.openapi.introduction import About
from tradecounter.edge.pages.error_pages import ErrorPagesMiddleware
from tradecounter.edge.rest.operation import Endpoint, Operation
from tradecounter.edge.server.compression import Compression
from tradecounter.edge.server.connection.connections import Connections, fitting_connections
from tradecounter.edge.server.hints import unknown_address
from tradecounter.edge.server.request_figures import RequestFigures
from tradecounter.edge.server.security_headers import cross_origin, security_headers
from tradecounter.identity.admission import Admission
from tradecounter.identity.installation_secret import secret_keys
from tradecounter.identity.vault import RegisteredKeys
from tradecounter.monitoring.metrics import Figures, one, process_figures
from tradecounter.request_log.recorder import RequestRecorder
from tradecounter.settings import Settings, runtime_folder
from tradecounter.sites.assembled import Pages
from tradecounter.sites.http.errors import ErrorMiddleware
from tradecounter.sites.http.fast_path.response_cache import ResponseCache
from tradecounter.sites.http.health import ProcessState
from tradecounter.sites.http.request_context import RequestContextMiddleware
from tradecounter.sites.http.resource import DirectCalls, Gate, Resource
from tradecounter.sites.http.whole_responses import WholeResponses
from tradecounter.storefront.load_shared import CatalogueSource
from tradecounter.storefront.storefront import Storefront

# The thresholds of the garbage collector. With Python's 700 it would run during each order, which makes more objects.
_COLLECT_AFTER = (10_000, 20, 20)


class Site(ABC):
    """A site as an ASGI application, whose lifespan opens the database and keeps the data in memory fresh.

    Subclasses call `follow` and `assemble` when they have what their endpoints need. The server uses `connections` and
    `stopping`. `alone` means that the process does nothing else until it ends.
    """

    name: ClassVar[str]  # in metrics
    about: ClassVar[About]  # in the interface document
    endpoints: list[Endpoint]  # that the interface document describes
    storefront: Storefront
    response_cache: ResponseCache | None = None
    recorder: RequestRecorder | None = None
    refresher: Refresher
    routes: list[Route]

    def __init__(
        self, settings: Settings, database: Database, admission: Admission, base_url: str | None, *, alone: bool
    ) -> None:
        self.database = database
        self.admission = admission
        self.requests = RequestFigures()
        self.freshness = Freshness(settings.stale_after)
        self.secrets = RegisteredKeys(lambda: secret_keys(settings))
        self.stopping = asyncio.Event()
        self.catalogue_source = CatalogueSource(
            database.url, settings.snapshot_dir or runtime_folder(), settings.replica_url
        )
        self.connections = Connections(
            settings.max_connections, settings.max_connections_per_address, admission.addresses.trusts
        )
        self.standing_headers = security_headers(base_url, sandbox=settings.sandbox)
        # It writes only counts of requests: reads must stay current while commits wait for replicas.
        self._refreshing = Database(database.url, connections=1, for_requests=True, durable=False)
        self._refreshing.writability = database.writability  # of the same disk, which the log names once
        self._addresses = admission.addresses
        self._base_url = base_url
        self._settings = settings
        self._alone = alone

    @abstractmethod
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request, or run the lifespan."""

    def document(self, base_url: str) -> dict[str, Any]:
        """Return the interface document for a base URL."""
        return build_document(self.operations, base_url, self._settings.seller_name, self.about)

    @property
    def operations(self) -> list[Operation]:
        """The operations of the interface document."""
        return [endpoint.operation for endpoint in self.endpoints]

    def follow(
        self, refreshables: Sequence[Refreshable], afterwards: Callable[[Database], Awaitable[None]] | None = None
    ) -> None:
        """Create the refresher, which keeps data in memory current."""
        self.refresher = Refresher(
            self._refreshing,
            [*refreshables, self.secrets],
            self._settings.refresh_interval,
            freshness=self.freshness,
            shared=self.database,
            afterwards=afterwards,
        )

    def _state(self) -> ProcessState:
        return ProcessState(
            freshness=self.freshness,
            refresher=self.refresher,
            stopping=self.stopping,
            addresses=self.admission.addresses,
            secrets=self.secrets,
            writability=self.database.writability,
        )

    def assemble(
        self,
        endpoints: Iterable[Endpoint],
        gate: Gate,
        pages: Pages,
        is_page: Callable[[str], bool],
        *,
        others: Iterable[tuple[Iterable[Endpoint], Gate]] = (),
        programs: Iterable[Route] = (),
        cors_origins: str | None = None,
        around: Callable[[ASGIApp], ASGIApp] | None = None,
    ) -> ASGIApp:
        """Return the site with routes for the endpoints and the pages behind its middleware.

        Errors of the paths of `is_page` are shown as pages. `others` are endpoints with gates of their own, and
        `programs` applications that admit requests themselves. With `around`, which wraps the site for all requests, no
        endpoint is called directly.
        """
        direct = self._routes(endpoints, gate)
        self.routes = [*direct, *self._routes(pages.endpoints, pages.gate)]
        for found, own_gate in others:
            self.routes += self._routes(found, own_gate)
        self.routes += programs
        unknown = unknown_address([route.path for route in self.routes])
        router = Router(self.routes, redirect_slashes=False, default=unknown, lifespan=self.running)
        app: ASGIApp = ErrorPagesMiddleware(router, pages.errors, is_page)
        if around is not None:
            app, direct = around(app), []
        errors = ErrorMiddleware(app)
        compression = Compression(errors)
        layers = WholeResponses(cross_origin(compression, cors_origins))
        return RequestContextMiddleware(
            DirectCalls(layers, direct, errors, compression),
            self.standing_headers,
            self._addresses,
            self.requests,
            self.recorder,
            log_requests=self._settings.log_requests,
        )

    def _routes(self, endpoints: Iterable[Endpoint], gate: Gate) -> list[Route]:
        by_path: defaultdict[str, list[Endpoint]] = defaultdict(list)
        for endpoint in endpoints:
            by_path[endpoint.operation.path].append(endpoint)
        return [
            _route(path, found, Resource(path, found, gate, self.base_url_of, self._settings.max_body_bytes))
            for path, found in by_path.items()
        ]

    def base_url_of(self, request: Request) -> str:
        """Return the base URL through which a request reaches the site, without a trailing slash."""
        scope = request.scope
        return self._base_url or _base_url_at(
            scope["scheme"], request.headers.get("host"), scope.get("server"), scope.get("root_path", "")
        )

    @asynccontextmanager
    async def running(self, _router: Router | None = None) -> AsyncIterator[None]:
        """Keep the database open and the data in memory fresh while the block runs."""
        wanted = self._settings.max_connections
        self.connections.limit_to(fitting_connections(wanted, self._settings.database_connections))
        async with self.database, self._refreshing, self.refresher.running():
            if self._alone:
                # Permanent data: collecting it again would stop all requests for a tenth of a second.
                gc.collect()
                gc.freeze()
                gc.set_threshold(*_COLLECT_AFTER)
            yield


@lru_cache(maxsize=64)  # the library parses the same few hosts again and again, which takes a fortieth of a page's time
def _base_url_at(scheme: str, host: str | None, server: tuple[str, int | None] | None, root_path: str) -> str:
    headers = [] if host is None else [(b"host", host.encode("latin-1"))]
    parts = {"scheme": scheme, "server": server, "root_path": root_path, "path": "/", "headers": headers}
    return str(Request({"type": "http", "query_string": b"", **parts}).base_url).rstrip("/")


def _route(path: str, endpoints: list[Endpoint], resource: Resource) -> Route:
    for parameter in endpoints[0].operation.path_parameters:
        if parameter.takes_slashes:
            path = path.replace(f"{{{parameter.name}}}", f"{{{parameter.name}:path}}")
    route = Route(path, resource)
    # Starlette's pattern ignores a line break at the end of an address (`PHONE%0A` would be `PHONE`), and accepts an
    # empty rest of a path (`/product/`).
    route.path_regex = _whole_path(route.path_regex.pattern)
    return route


@cache
def _whole_path(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.removesuffix("$").replace(">.*)", ">.+)") + r"\Z", re.DOTALL)


def site_figures(site: Site) -> Figures:
    """Return the current figures; may be called in any thread."""
    figures: Figures = {
        **process_figures(site.name, site.database.pool.get_stats()),
        **site.requests.figures(),
        "client_connections": one(len(site.connections)),
        "database_away_seconds": one(site.refresher.away_seconds),
        "refresh_duration_seconds": {(): site.refresher.durations.values},
        "refresh_failures": one(site.refresher.failures),
        "snapshot_products": one(len(site.storefront.snapshot)),
        "replica_reads": one(site.catalogue_source.replica_use.used),
        "replica_failures": one(site.catalogue_source.replica_use.unusable),
        "blocked_addresses": one(site.admission.lockout.blocked),
        "address_blocks": one(site.admission.lockout.blocks),
    }
    if math.isfinite(site.freshness.age):
        figures["data_age_seconds"] = one(site.freshness.age)
    if site.response_cache is not None:
        figures["response_cache_bytes"] = one(site.response_cache.size)
        figures["response_cache_responses"] = one(len(site.response_cache))
    return figures
