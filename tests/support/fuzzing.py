"""Generated requests from the interface document against the running service, and what came of them."""

import gc
import itertools
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from random import Random
from typing import Any

import schemathesis
from schemathesis import Case, HookContext
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import from_schema
from schemathesis.engine.core import EventStream
from schemathesis.engine.events import EngineEvent, FatalError, NonFatalError, ScenarioFinished
from schemathesis.engine.recorder import ScenarioRecorder

from support.billing import credit, invoiced, number_of
from support.interface import everything
from support.orders import buy, create
from support.service import Customer, Service
from support.shop import ADDRESS, METHODS, price, product, stock_shop
from tradecounter.shipments.fulfilment import add_video
from tradecounter.shipments.wire import OrderVideoResponse

EXAMPLE_SKU = "CV-320P"
EXAMPLE_METHOD = 101
FIRST_ADDRESS = IPv4Address("10.0.0.1")
BEHIND_A_PROXY: dict[str, Any] = {
    "trusted_proxies": "127.0.0.1",
    "rate_limit": 0,
    "max_pending_orders": 1_000_000,  # one customer places all orders, and confirms few
    "max_unpriced_quotes": 1_000_000,
}

# Data that fits the schema and may still be rejected, for what no schema can say: a SKU that is not sold, an
# unknown country, an attribute that is no number, a credit limit. And `If-None-Match: *` may get 304.
MEANING: list[Any] = ["2xx", "304", "400", "401", "402", "404", "409", "410", "412"]
# Wrong data is rejected; an id in the path that cannot be one is an unknown one.
WRONG: list[Any] = ["400", "401", "404", "405", "413", "415"]

CHECKS: dict[str, Any] = {
    "positive_data_acceptance": {"expected-statuses": ["2xx", "304", "404"]},
    "negative_data_rejection": {"expected-statuses": WRONG},
    # It needs a second customer within Schemathesis; `tests/api/identity/test_isolation*.py` prove as much.
    "object_level_authorization": {"enabled": False},
    # What was created may have been deleted by another step since.
    "ensure_resource_availability": {"enabled": False},
}
_FOR_ITS_MEANING = {"positive_data_acceptance": {"expected-statuses": MEANING}}
OPERATIONS: list[dict[str, Any]] = [
    {"include-method": "POST", "checks": _FOR_ITS_MEANING},
    {"include-method": "PUT", "checks": _FOR_ITS_MEANING},
    # In a query a list of text may hold any text, and an empty value is as if absent: what breaks the schema before it
    # is written as a query need not break it after. `test_product_bad_parameters.py` and `test_filtered_orders.py` do
    # it by hand.
    # A text is a cursor only if it was issued.
    {"include-operation-id": "listCatalogueChanges", "checks": _FOR_ITS_MEANING},
    {
        "include-operation-id": "listOrders",
        "checks": {**_FOR_ITS_MEANING, "negative_data_rejection": {"enabled": False}},
    },
    {
        "include-operation-id": "listProducts",
        "checks": {**_FOR_ITS_MEANING, "negative_data_rejection": {"enabled": False}},
    },
    # A day may not exist, and a statement may end before it starts; a day of a query that is left empty is none.
    *(
        {
            "include-operation-id": name,
            "checks": {**_FOR_ITS_MEANING, "negative_data_rejection": {"enabled": False}},
        }
        for name in ("listInvoices", "listCreditNotes", "listPayments", "getStatement")
    ),
    {
        "include-operation-id": "getInvoice",
        "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", "404", "412"]}},
    },
    {"include-operation-id": "getProduct", "checks": {"negative_data_rejection": {"enabled": False}}},
]

PHASES = ("examples", "coverage", "fuzzing", "stateful")
# What leads from one operation to the next is said by the document's links; nothing must be guessed.
OPTIONS: dict[str, Any] = {
    "stateful": {
        "inference": {"algorithms": []},
        "link-calibration": False,
        "max-steps": 20,
        "checks": {**CHECKS, **_FOR_ITS_MEANING, "negative_data_rejection": {"enabled": False}},
    }
}


WAITS = set(map(str, range(1, 21)))  # valid numbers of seconds, which would only take time


_KEY = "Idempotency-Key"
_keys = itertools.count()
_addresses = itertools.count()


@schemathesis.hook
def before_call(_context: HookContext, case: Case[Any], _options: dict[str, Any]) -> None:
    """Let every request come from an address of its own: many invalid keys from one address would block it."""
    case.headers["X-Forwarded-For"] = str(FIRST_ADDRESS + next(_addresses))
    if str((case.query or {}).get("wait")) in WAITS:
        case.query["wait"] = 0


@dataclass
class Shop:
    """A filled shop: the customer of the requests, and the names that exist, so that not every request is a miss."""

    customer: Customer
    skus: list[str]
    references: list[str]
    codes: list[str]
    addresses: list[int]
    configurable: dict[str, Any]

    def known(self, case: Case[Any]) -> Case[Any]:
        """Put existing names into every other request of those that fit the schema."""
        drawn = Random(repr((case.path_parameters, case.query, case.body)))  # noqa: S311 the same for the same request
        if _KEY in case.headers and drawn.random() < 3 / 4:
            case.headers[_KEY] = f"key-{next(_keys)}"  # one that was used before would be all that is wrong
        if case.meta is None or case.meta.generation.mode.is_negative or drawn.random() < 1 / 2:
            return case
        pools: dict[str, list[Any]] = {"sku": self.skus, "id": self.addresses, "reference": self.references}
        if case.method == "PUT":
            pools["reference"] = self.codes
        if "orderItemId" in (case.path_parameters or {}):
            pools |= {"reference": [self.configurable["order_reference"]]}
            pools |= {"orderItemId": [item["id"] for item in self.configurable["items"]]}
        for name in case.path_parameters or {}:
            if name in pools:
                case.path_parameters[name] = drawn.choice(pools[name])
        body: Any = case.body
        if isinstance(body, dict) and isinstance(body.get("items"), list):
            for item in body["items"]:
                item["sku"] = drawn.choice(self.skus)
            body |= {"billing_address": ADDRESS, "shipping_address": ADDRESS}
        return case


def fill(service: Service) -> Shop:
    """Fill a service so that the document's examples are true of it: the product, the method, the address."""
    stock_shop(service)
    service.must_load("manufacturers", [{"key": "corvane", "name": "Corvane"}])
    service.must_load("products", [product(EXAMPLE_SKU, manufacturer="corvane", configurable=True)])
    service.must_load("price-list", [price(EXAMPLE_SKU, "79.90")])
    service.must_load("stock", [{"sku": EXAMPLE_SKU, "available": 1_000_000}])
    service.must_load("shipping-methods", [*METHODS, {**METHODS[0], "id": EXAMPLE_METHOD, "max_weight_kg": 1_000_000}])
    customer = service.customer(credit="99999999.99")
    addresses = [customer.post("/customer/address", ADDRESS).json()["id"] for _ in range(50)]
    assert addresses[0] == 5001
    done = invoiced(service, customer)
    credit(service, number_of(service, done), amount="1.00")
    video = OrderVideoResponse("https://video.example/1.mp4", "https://video.example/1.m3u8")
    service.in_transaction(lambda tx: add_video(tx, done["order_reference"], video, service.clock.now()))
    return Shop(
        customer,
        skus=["PHONE", "CABLE", "SWITCH", EXAMPLE_SKU],
        references=[done["order_reference"], *(buy(customer)["order_reference"] for _ in range(4))],
        codes=[create(customer)["confirmation_code"] for _ in range(20)],
        addresses=addresses[1:],
        configurable=buy(customer, [(EXAMPLE_SKU, 10_000)], EXAMPLE_METHOD),
    )


@dataclass
class Report:
    """What came of a run: how many requests, which responses, and what was wrong with them."""

    requests: int = 0
    responses: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    seed: int = 0

    def summary(self) -> str:
        """The responses by operation and status, and what failed, with a command that shows it."""
        responses = [f"{count:>7}  {label}" for label, count in sorted(self.responses.items())]
        failures = [f"FAILED {what}\n  {details}" for what, details in self.failures.items()]
        return "\n".join([*responses, f"{self.requests:>7}  requests, {len(failures)} failures", *failures])

    def add(self, event: EngineEvent) -> None:
        """Take in what the engine tells."""
        if isinstance(event, FatalError):
            raise event.exception
        if isinstance(event, NonFatalError):
            self.failures.setdefault(f"{event.label}: {event.value}", "the run itself went wrong here")
        if isinstance(event, ScenarioFinished):
            self._scenario(event.recorder)

    def _scenario(self, recorder: ScenarioRecorder) -> None:
        for case_id, interaction in recorder.interactions.items():
            self.requests += 1
            case = recorder.cases.get(case_id)
            label = case.value.operation.label if case else recorder.label
            status = interaction.response.status_code if interaction.response else "no response"
            self.responses[f"{label} {status}"] += 1
        for checks in recorder.checks.values():
            for check in checks:
                if check.failure_info is not None:
                    failure = check.failure_info.failure
                    key = f"{recorder.label}: {check.name}: {failure.title}"
                    self.failures.setdefault(key, f"{failure.message}\n  {check.failure_info.code_sample}")


def run_phases(
    report: Report,
    service: Service,
    shop: Shop,
    phases: Collection[str],
    *,
    examples: int,
    seed: int | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Run phases of Schemathesis as the shop's customer; without a seed, the same requests every time."""
    stream = _stream(service, shop, phases, examples, seed)
    for event in stream:
        report.add(event)
        if is_over():
            stream.stop()
    del stream
    # Schemathesis leaves its sessions open, in reference cycles. If they were collected later, in the deep recursion of
    # another test, their finalizers would fail.
    gc.collect()


def _with_bodies_of_links(service: Service) -> dict[str, Any]:
    """The document with the bodies of its links where OpenAPI has them; generators of clients reject them there."""
    document: dict[str, Any] = service.client().get("/openapi.json").json()
    for link in everything(document):
        if "x-request-body" in link:
            link["requestBody"] = link.pop("x-request-body")
    return document


def _stream(service: Service, shop: Shop, phases: Collection[str], examples: int, seed: int | None) -> EventStream:
    generation: dict[str, Any] = {
        "max-examples": examples,
        "database": "none",
        "no-shrink": True,
        "deterministic": seed is None,
        # A NUL character in a body is rejected wherever it stands, which no schema can say.
        "allow-x00": False,
        "with-security-parameters": False,
    }
    config = SchemathesisConfig.from_dict(
        {
            "base-url": service.url,
            "seed": seed or 0,
            "continue-on-failure": True,
            "headers": {"X-Api-Key": shop.customer.key, "Accept": "application/json"},
            "generation": generation,
            "checks": CHECKS,
            "operations": OPERATIONS,
            "phases": {phase: {"enabled": phase in phases, **OPTIONS.get(phase, {})} for phase in PHASES},
        }
    )
    schema = schemathesis.openapi.from_dict(_with_bodies_of_links(service), config=config)

    @schema.hook
    def map_case(_context: HookContext, case: Case[Any]) -> Case[Any]:
        return shop.known(case)

    return from_schema(schema).execute()
