"""`GET /check-health` and `GET /ready`: whether the process responds, and whether it should get requests."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.db.refresher import Freshness, Refresher
from tradecounter.db.writability import REMEDY, Writability
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.headers import RETRY_AFTER
from tradecounter.edge.rest.operation import ErrorResponse
from tradecounter.edge.rest.responses import json_response
from tradecounter.edge.server.client_address import ClientAddresses
from tradecounter.identity.vault import RegisteredKeys
from tradecounter.settings import PREFIX

_MOST_AWAY_SECONDS = 10.0  # seconds; during a shorter outage, the process stays ready
_RETRY_SECONDS = 5

Age = Annotated[int, Meta(ge=0, description="Seconds since products, prices and stock were last verified.")]


class Health(Struct):
    """The responding process's state."""

    status: Annotated[
        Literal["ok", "degraded", "stopping"],
        Meta(
            description=(
                "`degraded`: the database is away or cannot write, or products and prices are too old to be shown."
            )
        ),
    ]
    database: Annotated[Literal["ok", "away"], Meta(description="While it is away, most requests get 503.")]
    data_age: Age
    writes: Annotated[
        bool,
        Meta(description="Whether the database can write. While its disk is full, reads work and changes get 503."),
    ]


class Readiness(Struct):
    """Whether the responding process should get requests."""

    ready: Annotated[bool, Meta(description="Whether the process should get requests.")]
    reasons: Annotated[list[str], Meta(description="Why the process is not ready.")]
    warnings: Annotated[list[str], Meta(description="Problems to check, even if the process is ready.")]


class ProcessState(Struct, frozen=True):
    """Reads the process's state from its parts."""

    freshness: Freshness
    refresher: Refresher
    stopping: asyncio.Event
    addresses: ClientAddresses
    secrets: RegisteredKeys
    writability: Writability

    def health(self) -> Health:
        """Return the response of `GET /check-health`."""
        away = self.refresher.away_seconds > 0
        writes = self.writability.writes and not away
        status: Literal["ok", "degraded"] = "ok" if writes and not self.freshness.is_stale else "degraded"
        database: Literal["ok", "away"] = "away" if away else "ok"
        return Health(
            status="stopping" if self.stopping.is_set() else status,
            database=database,
            data_age=self._age(),
            writes=writes,
        )

    def readiness(self) -> Readiness:
        """Return the response of `GET /ready`."""
        reasons = list(self._reasons())
        return Readiness(not reasons, reasons, list(self._warnings()))

    def _reasons(self) -> Iterator[str]:
        if self.stopping.is_set():
            yield "the process is stopping"
        if self.refresher.away_seconds > _MOST_AWAY_SECONDS:
            yield f"the database has been away for {round(self.refresher.away_seconds)} seconds"
        if self.freshness.is_stale:
            yield f"products, prices and stock were last verified {self._age()} seconds ago"
        if self.secrets.problem is not None:
            yield "the process has not got the secret key that is in use: its log says more"

    def _warnings(self) -> Iterator[str]:
        if not self.writability.writes:
            yield f"the database's disk is full, so changes get 503: {REMEDY}"
        if self.addresses.untrusted_forwarding:
            yield (
                f"a peer that {PREFIX}TRUSTED_PROXIES does not name sends X-Forwarded-For or Forwarded: if it is a "
                "proxy, all clients behind it count as one address"
            )

    def _age(self) -> int:
        return round(self.freshness.age)


_DESCRIBED: Mapping[type, Described] = {
    Health: Described("The process runs.", Health(status="ok", database="ok", data_age=1, writes=True)),
    Readiness: Described("The process is ready.", Readiness(ready=True, reasons=[], warnings=[])),
}
_SERVICE = Subject(tag="Service", public=True, described=_DESCRIBED)
_NOT_READY = ErrorResponse(
    503,
    "The process is stopping or has a wrong secret key, the database is away, or products and prices are too old.",
    Readiness(ready=False, reasons=["the process is stopping"], warnings=[]),
    (RETRY_AFTER,),
    body=Readiness,
    counted=False,
)


class HealthEndpoints(Struct, frozen=True):
    """The endpoints for monitoring and load balancers."""

    state: ProcessState

    @_SERVICE.shows("/check-health")
    async def check_health(self) -> Health:
        """Whether the service responds.

        200 as long as the process runs, whatever its `status`.
        """
        return self.state.health()

    @_SERVICE.shows("/ready", errors=(_NOT_READY,))
    async def check_readiness(self) -> Readiness | Response:
        """Whether the service should get requests.

        For load balancers. Each process responds for itself.
        """
        state = self.state.readiness()
        return state if state.ready else json_response(state, 503, {"Retry-After": str(_RETRY_SECONDS)})
