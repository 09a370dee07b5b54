"""Creates an order or a quote for a request, once for an idempotency key."""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.idempotency import KeyedRequest, RecordedResponse, pipe_claim, record, recorded, used_once
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.idempotency import IDEMPOTENCY_HEADER, REPLAY_HEADER, fingerprint, read_key
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.kit.actor import Actor
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError
from tradecounter.kit.json_text import to_json
from tradecounter.orders.create.check_request import read_request
from tradecounter.orders.create.place_order import pipe_standing, place_order, standing_of, with_current_data
from tradecounter.orders.order_context import OrderContexts
from tradecounter.orders.present import created_order
from tradecounter.orders.states import OrderKind
from tradecounter.quotes.handle_quotes import request_quote

_CREATED_STATUS = 201


class OrderCreation(Struct, frozen=True):
    """Creates orders and quotes for requests."""

    database: Database
    contexts: OrderContexts
    clock: Clock

    async def respond(self, call: Call, kind: OrderKind) -> Response:
        """Create an order or a quote and respond with it."""
        key = read_key(call.request.headers.getlist(IDEMPOTENCY_HEADER))
        raw = await call.json_text()
        keyed = None if key is None else KeyedRequest(call.customer_id, key, fingerprint(*call.target, raw))
        try:
            created, replayed = await self._create(call.customer_id, call.actor, raw, keyed, kind)
        except DomainError:
            # Another request with the key may have created the order in the meantime. Then that order's credit or
            # reference must not reject this request.
            if keyed is not None and (before := await self._recorded(keyed)) is not None:
                created, replayed = before, True
            else:
                raise
        return Response(created.body, created.status, {REPLAY_HEADER: "true"} if replayed else None, JSON)

    async def create(self, customer_id: int, actor: Actor, raw: bytes, kind: OrderKind) -> bytes:
        """Create an order or a quote of a body, and return it as JSON. Raises DomainError."""
        created, _ = await self._create(customer_id, actor, raw, None, kind)
        return created.body

    async def _create(
        self, customer_id: int, actor: Actor, raw: bytes, keyed: KeyedRequest | None, kind: OrderKind
    ) -> tuple[RecordedResponse, bool]:
        """Return the response, and whether it is that to an earlier request with the key."""
        context = self.contexts.of(customer_id, self.clock.now())
        request = await read_request(raw, context, lambda: reading(self.database))
        with used_once():
            async with transaction(self.database, actor) as tx:
                async with tx.pipeline() as p:
                    claimed = None if keyed is None else pipe_claim(p, keyed)
                    standing = pipe_standing(p, kind, request, context)
                if keyed and claimed and (before := recorded(tx, keyed, claimed)) is not None:
                    return before, True
                current = await with_current_data(tx, request, standing_of(standing, context.customer_id), context)
                create = place_order if kind == "order" else request_quote
                order, lines = await create(tx, request, *current)
                created = created_order(order, lines, auto_confirm=request.auto_confirm)
                recorded_response = RecordedResponse(_CREATED_STATUS, to_json(created))
                if keyed is not None:
                    record(tx, keyed, recorded_response, context.now)
        return recorded_response, False

    async def _recorded(self, keyed: KeyedRequest) -> RecordedResponse | None:
        """Return the response to an earlier request with this key, even if the rules have changed since."""
        async with transaction(self.database) as tx:
            async with tx.pipeline() as p:
                claimed = pipe_claim(p, keyed)
            return recorded(tx, keyed, claimed)
