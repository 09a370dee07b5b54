"""People who sign in to the pages of a site, as a browser does."""

from urllib.parse import parse_qs, urlsplit

import httpx2

from bench.kit.processes import BenchError
from bench.kit.product import Server, tradecounter
from bench.kit.store import Store

_PASSWORD = "a long bench password"  # noqa: S105 the account exists only during the benchmark
_SEE_OTHER = 303


def staff_cookie(store: Store, server: Server) -> str:
    """Add an administrator and return the cookie of a session at the back office."""
    email = "bench@reseller.example"
    words = ("staff", "add", email, "--name", "Bench", "--role", "administrator")
    return _cookie(server, "", email, tradecounter(store.env, *words)["link"])


def owner_cookie(store: Store, server: Server, customer_id: int) -> str:
    """Add an owner of a customer and return the cookie of a session at the public site."""
    email = f"owner-{customer_id}@shop.example"
    words = ("user", "invite", str(customer_id), email, "--role", "owner")
    return _cookie(server, "/account", email, tradecounter(store.env, *words)["link"])


def _cookie(server: Server, root: str, email: str, link: str) -> str:
    [token] = parse_qs(urlsplit(link).query)["token"]
    with httpx2.Client(base_url=f"http://{server.host}:{server.port}") as client:
        _send(client, f"{root}/set-password", {"token": token, "password": _PASSWORD})
        response = _send(client, f"{root}/sign-in", {"email": email, "password": _PASSWORD})
    cookies = [line.partition(";")[0] for line in response.headers.get_list("set-cookie")]
    return "; ".join(cookies)


def _send(client: httpx2.Client, path: str, fields: dict[str, str]) -> httpx2.Response:
    response = client.post(path, data=fields, headers={"Sec-Fetch-Site": "same-origin", "Accept": "text/html"})
    if response.status_code != _SEE_OTHER:
        raise BenchError(f"{path} responded with {response.status_code}")
    return response
