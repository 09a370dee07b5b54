"""Admits requests to the public site: a customer's credential, then the rate limit."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.types import Scope
from structlog.contextvars import bind_contextvars

from tradecounter.db.fair_shares import act_for
from tradecounter.edge.rest.call import add_response_headers
from tradecounter.edge.rest.operation import Operation
from tradecounter.identity.admission import Admission, sender_of
from tradecounter.identity.rate_limit import RateLimitedError
from tradecounter.kit.actor import Actor


class AdmittedGate:
    """Lets in requests whose context has their customer; counts none."""

    async def admit(self, request: Request, _: Operation) -> int | None:
        """Return the request's customer."""
        return sender_of(request.scope).customer_id

    def actor_of(self, scope: Scope) -> Actor:
        """Return the sender's key or application."""
        return sender_of(scope).actor

    def count_more(self, request: Request, customer_id: int, requests: int) -> None:
        """Count nothing."""


@dataclass(frozen=True, slots=True)
class CustomerGate:
    """Admits customers' requests."""

    admission: Admission

    async def admit(self, request: Request, operation: Operation) -> int:
        """Return the customer of a request, which counts against the rate limit. Raises DomainError."""
        return self.let_in(request, operation, await self.admission.admit(sender_of(request.scope)))

    def let_in(self, request: Request, operation: Operation, customer_id: int) -> int:
        """Count a request, and return its customer. Raises RateLimitedError."""
        self._count(request, customer_id, 1 if operation.rate_limited else 0)
        bind_contextvars(customer=customer_id)  # in all log lines of the request
        act_for(customer_id)
        return customer_id

    def actor_of(self, scope: Scope) -> Actor:
        """Return the customer's key or application."""
        return sender_of(scope).actor

    def count_more(self, request: Request, customer_id: int, requests: int) -> None:
        """Count a long response as several requests."""
        self._count(request, customer_id, requests, admitted=True)

    def _count(self, request: Request, customer_id: int, requests: int, *, admitted: bool = False) -> None:
        try:
            quota = self.admission.rate_limit.count(customer_id, requests, admitted=admitted)
        except RateLimitedError as error:
            add_response_headers(request.scope, error.quota.headers)
            raise
        if quota is not None:
            add_response_headers(request.scope, quota.headers)
