"""Plans a sample's requests from an operation's examples in the interface document.

Some operations need a value from another operation, such as a `confirmation_code`. Their samples send two requests.
"""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from tradecounter.edge.rest.operation import Sample

_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"
_BODY = "$response.body#/"
_PLACE = re.compile(r"\{(\w+)\}")


class Request(Struct, frozen=True):
    """A request; each `{name}` in its URL is a value from the previous response."""

    method: str
    address: str
    query: Mapping[str, str] = field(default_factory=dict)
    accept: bool = False  # whether it sends `Accept: application/json`
    json: Any = None
    form: Mapping[str, str] | None = None
    with_key: bool = True
    with_token: bool = False  # a service token instead of a key
    idempotency_prefix: str = ""  # the prefix of the sample's idempotency key
    response: str = "json"  # or "pdf", "text", "nothing"

    def headers(self, texts: Mapping[str, str]) -> list[str]:
        """Return a language's code for each header that the request has."""
        sent = {
            "X-Api-Key": self.with_key and not self.with_token,
            "Token": self.with_key and self.with_token,
            "Authorization": self.form is not None,
            "Accept": self.accept,
            "Content-Type": self.json is not None,
            "Idempotency-Key": self.idempotency_prefix,
        }
        return [text for name, text in texts.items() if sent[name]]

    @property
    def url(self) -> str:
        """The URL with the query."""
        return self.address + ("?" + "&".join(f"{k}={v}" for k, v in self.query.items()) if self.query else "")


class Plan(Struct, frozen=True):
    """A sample's requests: `last` and optionally `first`, whose response provides the values `taken`."""

    last: Request
    first: Request | None = None
    taken: Mapping[str, tuple[str | int, ...]] = field(default_factory=dict)


def plan_of(document: Mapping[str, Any], name: str, sample: Sample) -> Plan:
    """Return the plan for an operation's sample."""
    if not sample.after:
        return Plan(_request(document, name, query=sample.query))
    first = _request(document, sample.after, body=sample.first_body)
    taken = {parameter: _steps(value) for parameter, value in _link(document, sample.after, name).items()}
    return Plan(_request(document, name, query=sample.query, taken=taken), first, taken)


def _link(document: Mapping[str, Any], source: str, name: str) -> Mapping[str, str]:
    """Return the link from `source` to the named operation: expressions for its parameters."""
    _, _, operation = _operation(document, source)
    parameters: Mapping[str, str] = _success(operation)["links"][name]["parameters"]
    return parameters


def _steps(expression: str) -> tuple[str | int, ...]:
    steps = expression.removeprefix(_BODY).split("/")
    return tuple(int(step) if step.isdigit() else step for step in steps)


def _success(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    success: Mapping[str, Any] = next(iter(operation["responses"].values()))
    return success


def _request(
    document: Mapping[str, Any],
    name: str,
    *,
    query: Mapping[str, str] | None = None,
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
    success = _success(operation).get("content", {})
    json: Any = (body or _first_example(content[_JSON])) if _JSON in content else None
    return Request(
        method=method.upper(),
        address=document["servers"][0]["url"] + _PLACE.sub(value, path),
        query=query or {},
        accept="text/csv" in success,
        json=json,
        form=_first_example(content[_FORM]) if _FORM in content else None,
        with_key="security" not in operation,
        with_token="apiKey" not in document["components"]["securitySchemes"],
        idempotency_prefix=_idempotency_prefix(_PLACE.sub(value, path), json) if keyed else "",
        response=_kind_of(success),
    )


def _idempotency_prefix(path: str, body: Any) -> str:
    reference = (body or {}).get("customer_reference")
    return "-".join([*path.strip("/").split("/"), *([reference] if reference else [])])


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
