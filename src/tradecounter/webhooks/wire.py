"""Endpoints and deliveries on the wire, which `--json` shows too."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.events.record import ALL_TYPES
from tradecounter.kit.numbers import Id
from tradecounter.kit.web_addresses import LONGEST
from tradecounter.kit.wire import Moment, Timed, made_from
from tradecounter.webhooks.queries.deliveries import DeliveryRecord
from tradecounter.webhooks.queries.endpoints import Endpoint, WebhookState

_LONGEST_DESCRIPTION = 200

TypeName = Annotated[str, Meta(extra_json_schema={"enum": sorted(ALL_TYPES)})]
Url = Annotated[
    str,
    Meta(
        max_length=LONGEST,
        description="Where events are posted to; it must lead to a public address.",
        examples=["https://erp.example/events"],
    ),
]
Types = Annotated[
    list[TypeName], Meta(max_length=len(ALL_TYPES), description="Only events of these types; empty: all.")
]
Description = Annotated[str, Meta(max_length=_LONGEST_DESCRIPTION, description="What the endpoint is for.")]


class WebhookRequest(Struct, kw_only=True):
    """A new endpoint; without `customer_id`, it gets the events of all customers."""

    url: Url
    types: Types = []
    description: Description = ""
    customer_id: Annotated[Id | None, Meta(description="The customer whose events it gets; null: the reseller.")] = None


class WebhookChange(Struct, kw_only=True):
    """The fields to change. A paused endpoint that becomes active gets what it has missed."""

    url: Url | UnsetType = UNSET
    types: Types | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    state: (
        Annotated[WebhookState, Meta(description="An active webhook gets all events that it has missed.")] | UnsetType
    ) = UNSET


class Replay(Struct, rename={"first": "from", "last": "to"}):
    """A range of sequences, both ends included, with at most 10,000 events to deliver."""

    first: Annotated[Id, Meta(description="The first sequence.", examples=[1001])]
    last: Annotated[Id, Meta(description="The last sequence.", examples=[1042])]


class Replayed(Struct):
    """How many deliveries a replay made."""

    deliveries: int


class Webhook(Timed, Struct, kw_only=True):
    """An endpoint."""

    id: int
    customer_id: Annotated[int | None, Meta(description="The customer whose events it gets; null: the reseller.")]
    url: Url
    types: Types
    description: Description
    state: Annotated[
        WebhookState,
        Meta(
            description="`paused` by its owner or after five days of failures, `disabled` by the receiver's 410 or its"
            " owner; with a `reason` if the service did it."
        ),
    ]
    reason: Annotated[str | None, Meta(description="Why the service paused or disabled it.")]
    failing_since: Annotated[
        Moment | None, Meta(description="The first failure since the last success; null: the last attempt succeeded.")
    ]
    created_at: Moment


class CreatedWebhook(Webhook, kw_only=True):
    """An endpoint with its secret, which is shown only once."""

    secret: Annotated[str | None, Meta(description="Verifies signatures; null in a repeated response.")]


class Attempt(Timed, Struct, kw_only=True):
    """One request to the endpoint."""

    attempt: int
    at: Moment
    status: int | None
    milliseconds: int
    error: str | None
    response: str


class Delivery(Timed, Struct, kw_only=True):
    """An event for an endpoint; `attempt` to `response` are those of its last attempt."""

    id: int
    event: Annotated[str, Meta(description="The event's id, which the header `webhook-id` has.")]
    sequence: Annotated[int | None, Meta(description="The event's sequence; null for a ping.")]
    type: str
    subject: str
    attempt: Annotated[int, Meta(description="The number of attempts.")]
    at: Annotated[Moment | None, Meta(description="When the last attempt began.")]
    status: Annotated[int | None, Meta(description="The response's status; null without a response.")]
    milliseconds: Annotated[int | None, Meta(description="How long the attempt took.")]
    error: Annotated[str | None, Meta(description="Why there was no complete response.")]
    response: Annotated[str | None, Meta(description="The first 2 kB of the response's body.")]
    next_attempt_at: Annotated[
        Moment | None, Meta(description="Null after success, and while an earlier delivery of the subject waits.")
    ]
    delivered_at: Moment | None
    attempts: Annotated[list[Attempt], Meta(description="All attempts of the last 30 days, the oldest first.")]


def webhook_on_the_wire(endpoint: Endpoint) -> Webhook:
    """Return an endpoint as the resource Webhook."""
    return made_from(endpoint, Webhook)


def with_secret(webhook: Webhook, secret: str) -> CreatedWebhook:
    """Return an endpoint with its secret."""
    return made_from(webhook, CreatedWebhook, secret=secret)


def delivery_on_the_wire(record: DeliveryRecord) -> Delivery:
    """Return a delivery as the resource Delivery."""
    attempts = msgspec.convert(record.attempts, list[Attempt])
    last = attempts[-1] if attempts else None
    return made_from(
        record,
        Delivery,
        event=record.event_id,
        attempt=record.made,
        attempts=attempts,
        **{name: getattr(last, name, None) for name in ("at", "status", "milliseconds", "error", "response")},
    )
