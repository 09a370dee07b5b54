"""Every route there is needs a credential, or is on the list of those that do not (specification, sections 4 and 5)."""

import re
from pathlib import Path

import httpx2
import pytest

from support.routes_document import routes_document
from support.service import Service

ROOT = Path(__file__).parents[2]

# For people and agents; the document does not list them.
TEXTS = {
    ("GET", path)
    for path in (
        "/changelog",
        "/changelog.json",
        "/llms.txt",
        "/guide.md",
        "/docs.md",
        "/.well-known/security.txt",
    )
}
PUBLIC = {
    ("GET", "/"),
    ("GET", "/check-health"),
    ("GET", "/ready"),
    ("GET", "/openapi.json"),
    ("GET", "/openapi.yaml"),
    *TEXTS,
    ("GET", "/docs"),
    ("GET", "/guide"),
    ("GET", "/static/{name}"),
    ("GET", "/picture/{name}"),
    ("GET", "/auth/.well-known/openid-configuration"),
    ("GET", "/.well-known/oauth-authorization-server/auth"),
    ("GET", "/auth/jwks.json"),
    ("POST", "/auth/token"),
    ("POST", "/auth/revoke"),
    ("POST", "/auth/register"),
    ("POST", "/oauth/token"),
    ("GET", "/.well-known/oauth-protected-resource"),
    ("GET", "/.well-known/oauth-protected-resource/mcp"),
}
CLIENT_AUTHENTICATED = {
    ("POST", "/oauth/token"), ("POST", "/auth/token"), ("POST", "/auth/revoke"), ("POST", "/auth/register"),
}  # fmt: skip
AUTHENTICATED = {
    ("GET", "/product"),
    ("GET", "/product/{sku}"),
    ("GET", "/catalogue/change"),
    ("GET", "/order"),
    ("POST", "/order"),
    ("GET", "/order/{reference}"),
    ("PUT", "/order/{reference}"),
    ("POST", "/quote"),
    ("GET", "/quote"),
    ("GET", "/quote/{confirmation_code}"),
    ("POST", "/quote/{confirmation_code}/decline"),
    ("GET", "/request"),
    ("POST", "/request"),
    ("GET", "/order/{reference}/invoice"),
    ("POST", "/order/{reference}/item/{orderItemId}/configuration"),
    ("GET", "/order/{reference}/video"),
    ("GET", "/event"),
    ("GET", "/invoice"),
    ("GET", "/invoice/{number}"),
    ("GET", "/credit-note"),
    ("GET", "/credit-note/{number}"),
    ("GET", "/statement"),
    ("GET", "/payment"),
    ("GET", "/request-log"),
    ("POST", "/mcp"),
    ("GET", "/customer"),
    ("GET", "/customer/credit"),
    ("GET", "/customer/address"),
    ("POST", "/customer/address"),
    ("PUT", "/customer/address/{id}"),
    ("DELETE", "/customer/address/{id}"),
    ("GET", "/category"),
    ("GET", "/manufacturer"),
    ("GET", "/attribute"),
}
# For people who have signed in, and for those who have the secret in the address; see tests/api/pages.
PAGES = ("/account", "/auth/authorize", "/feed/")
UPLOADED = {("GET", "/picture/{name}")}  # there is none yet; see tests/api/pages/test_product_pictures.py
NOT_IN_THE_DOCUMENT = {
    ("GET", "/docs"),
    ("GET", "/guide"),
    ("GET", "/static/{name}"),
    ("GET", "/picture/{name}"),
    ("POST", "/mcp"),
}  # for people, and for clients of another protocol


def routes_of(service: Service) -> set[tuple[str, str]]:
    """Every method and path that the running server has a route for, as it says itself."""
    client = service.client()
    found = set()
    for route in service.application.routes:
        path = re.sub(r"\{(\w+):path\}", r"{\1}", route.path)
        if path.startswith(PAGES):
            continue
        allowed = client.options(filled(path)).headers["Allow"].split(", ")
        found |= {(method, path) for method in allowed if method not in {"HEAD", "OPTIONS"}}
    return found


def test_the_page_of_all_routes_is_up_to_date() -> None:
    assert (ROOT / "docs" / "routes.md").read_text() == routes_document(), (
        "docs/routes.md is out of date: run `make docs`"
    )


def filled(path: str) -> str:
    return re.sub(r"\{\w+\}", "1", path.replace("/static/{name}", "/static/style.0.css"))


@pytest.mark.spec("1 General rules", "no operation cancels or amends an order, or applies for an account")
@pytest.mark.spec("9 Versioning", "the document's version is 1.0, the paths have none")
def test_the_routes_are_exactly_those_of_the_specification(service: Service) -> None:
    assert routes_of(service) == PUBLIC | AUTHENTICATED


@pytest.mark.spec("5 Authentication", "every endpoint but the public ones needs a credential")
def test_every_route_but_the_public_ones_needs_a_credential(service: Service) -> None:
    client = service.client()
    for method, path in sorted(routes_of(service)):
        for sent in {method, "HEAD"} if method == "GET" else {method}:
            found = client.request(sent, filled(path))
            assert (found.status_code == 401) == ((method, path) not in PUBLIC), (sent, path)
            assert (found.status_code == 400) == ((method, path) in CLIENT_AUTHENTICATED), (sent, path)


@pytest.mark.spec("4 GET /", "public; name and documentation, in the body and as links")
@pytest.mark.spec("4 GET /check-health", "public; an object")
@pytest.mark.spec("4 GET /ready", "public; 503 with the reasons while the process should get no requests")
@pytest.mark.spec("4 GET /openapi.json, GET /openapi.yaml", "public; the interface document in both forms")
@pytest.mark.parametrize(("method", "path"), sorted(PUBLIC - CLIENT_AUTHENTICATED - UPLOADED))
def test_a_public_route_ignores_credentials(service: Service, method: str, path: str) -> None:
    client: httpx2.Client = service.client()
    for headers in ({}, {"X-Api-Key": "bad"}, {"Authorization": "Bearer bad"}):
        assert client.request(method, filled(path), headers=headers, params={"api-key": "bad"}).status_code == 200


@pytest.mark.spec("5 Authentication", "every endpoint but the public ones needs a credential")
def test_the_interface_document_knows_the_same_routes_and_which_are_public(service: Service) -> None:
    document = service.client().get("/openapi.json").json()
    operations = {
        (method.upper(), path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert set(operations) == (PUBLIC | AUTHENTICATED) - NOT_IN_THE_DOCUMENT - TEXTS
    open_to_all = {place for place, operation in operations.items() if "security" in operation}
    assert open_to_all == PUBLIC - NOT_IN_THE_DOCUMENT - TEXTS
    assert document["security"] == [{"apiKey": []}, {"bearer": []}]
    for place in AUTHENTICATED - NOT_IN_THE_DOCUMENT:
        assert "security" not in operations[place]
        assert "401" in operations[place]["responses"]
