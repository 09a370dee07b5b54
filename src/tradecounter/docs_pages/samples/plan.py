"""What a sample sends: taken from an operation's examples in the interface document.

Some operations need what another one has just created, such as a `confirmation_code`. Their samples send two requests.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
_PLACE = re.compile(r"\{(\w+)\}")

# Requests whose parameters make a good first answer on any catalogue that has phones, and a short one on all others.
_QUERIES = {
    "listProducts": {"category": "desk-phones", "inStock": "true", "sort": "price", "limit": "3"},
    "listOrders": {"limit": "3"},
}


@dataclass(frozen=True, slots=True)
class _Preparation:
    """The request before: its operation, where its response has the path's values, and a body of its own."""

    operation: str
    taken: Mapping[str, tuple[str | int, ...]]
    body: Mapping[str, Any] | None = None


_PREPARED = {
    "confirmOrder": _Preparation("createOrder", {"reference": ("confirmation_code",)}),
    "getQuote": _Preparation("createQuote", {"confirmation_code": ("confirmation_code",)}),
    "deleteAddress": _Preparation("createAddress", {"id": ("id",)}),
    "addConfigurations": _Preparation(
        "createOrder",
        {"reference": ("order_reference",), "orderItemId": ("items", 0, "id")},
        {
            "customer_reference": "PO-1002",
            "items": [{"sku": "HM310", "quantity": 1}],
            "billing_address": {"id": 5001},
            "shipping_address": {"id": 5001},
            "shipping_method": {"id": 101},
            "auto_confirm": True,
        },
    ),
}


@dataclass(frozen=True, slots=True)
class Request:
    """One request; the path holds `{name}` where a value of the response before stands."""

    method: str
    address: str
    query: Mapping[str, str] = field(default_factory=dict)
    accept: str = ""
    json: Any = None
    form: Mapping[str, str] | None = None
    with_key: bool = True
    idempotency_prefix: str = ""  # of a key that the sample makes up
    response: str = "json"  # or "pdf", "text", "nothing"

    @property
    def url(self) -> str:
        """The address with the query."""
        return self.address + ("?" + "&".join(f"{k}={v}" for k, v in self.query.items()) if self.query else "")


@dataclass(frozen=True, slots=True)
class Plan:
    """The requests of a sample: `first`, if any, and `last`, in whose address the values `taken` from it stand."""

    last: Request
    first: Request | None = None
    taken: Mapping[str, tuple[str | int, ...]] = field(default_factory=dict)


def plan_of(document: Mapping[str, Any], name: str) -> Plan:
    """Return the plan of an operation's sample."""
    preparation = _PREPARED.get(name)
    if preparation is None:
        return Plan(_request(document, name))
    first = _request(document, preparation.operation, body=preparation.body)
    return Plan(_request(document, name, taken=preparation.taken), first, preparation.taken)


def _request(
    document: Mapping[str, Any],
    name: str,
    *,
    taken: Mapping[str, Any] | None = None,
    body: Mapping[str, Any] | None = None,
) -> Request:
    path, method, operation = _operation(document, name)
    parameters = {p["name"]: p for p in operation.get("parameters", ()) if p["in"] == "path"}

    def value(match: re.Match[str]) -> str:
        found = match[1]
        return match[0] if taken and found in taken else str(parameters[found]["example"])

    keyed = any(p["name"] == "Idempotency-Key" for p in operation.get("parameters", ()))
    content = operation.get("requestBody", {}).get("content", {})
    success = next(iter(operation["responses"].values())).get("content", {})
    json: Any = (body or _first_example(content[_JSON])) if _JSON in content else None
    return Request(
        method=method.upper(),
        address=document["servers"][0]["url"] + _PLACE.sub(value, path),
        query=_QUERIES.get(name, {}),
        accept=_JSON if "text/csv" in success else "",
        json=json,
        form=_first_example(content[_FORM]) if _FORM in content else None,
        with_key="security" not in operation,
        idempotency_prefix=f"{path.strip('/')}-{json['customer_reference']}" if keyed else "",
        response=_kind_of(success),
    )


def _kind_of(content: Mapping[str, Any]) -> str:
    if _JSON in content:
        return "json"
    if "application/pdf" in content:
        return "pdf"
    return "text" if content else "nothing"


def _first_example(media: Mapping[str, Any]) -> Any:
    return next(iter(media["examples"].values()))["value"]


def _operation(document: Mapping[str, Any], name: str) -> tuple[str, str, Mapping[str, Any]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation["operationId"] == name:
                return path, method, operation
    raise LookupError(f"there is no operation {name}")
