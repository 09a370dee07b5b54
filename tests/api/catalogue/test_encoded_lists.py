"""Lists as HTTP libraries send them: most libraries encode the commas between values."""

import shutil
import subprocess
from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode

import httpx2
import pytest
import requests

from support.service import Customer, Service
from support.shop import price, product

WANTED = {"manufacturer": "acme,umbra", "category": "desk,wall", "attribute": "ports>=2,colour=black"}


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    service.must_load("categories", [{"key": key, "name": key, "children": None} for key in ("desk", "wall", "floor")])
    service.must_load("manufacturers", [{"key": key, "name": key} for key in ("acme", "umbra", "zenith")])
    service.must_load(
        "attributes",
        [{"key": "ports", "name": "Ports", "type": "int"}, {"key": "colour", "name": "Colour", "type": "string"}],
    )
    black, white = {"ports": "2", "colour": "black"}, {"ports": "2", "colour": "white"}
    service.must_load(
        "products",
        [
            product("ONE", manufacturer="acme", categories=["desk"], attributes=black),
            product("TWO", manufacturer="umbra", categories=["wall"], attributes=black),
            product("OTHER-COLOUR", manufacturer="acme", categories=["desk"], attributes=white),
            product("OTHER-MAKER", manufacturer="zenith", categories=["desk"], attributes=black),
            product("OTHER-CATEGORY", manufacturer="acme", categories=["floor"], attributes=black),
        ],
    )
    skus = ("ONE", "TWO", "OTHER-COLOUR", "OTHER-MAKER", "OTHER-CATEGORY")
    service.must_load("price-list", [price(sku, 1) for sku in skus])
    return service.customer()


def by_requests(wanted: dict[str, str]) -> str:
    url = requests.Request("GET", "http://shop.example/", params=wanted).prepare().url
    assert url is not None
    return url.partition("?")[2]


def by_httpx(wanted: dict[str, str]) -> str:
    return str(httpx2.QueryParams(wanted))


def by_url_search_params(wanted: dict[str, str]) -> str:
    script = "console.log(new URLSearchParams(JSON.parse(process.argv[1])).toString())"
    return _printed("node", "-e", script, httpx2.Request("POST", "http://x", json=wanted).content.decode())


def by_http_build_query(wanted: dict[str, str]) -> str:
    script = "echo http_build_query(json_decode($argv[1], true));"
    return _printed("php", "-r", script, httpx2.Request("POST", "http://x", json=wanted).content.decode())


def by_repetition(wanted: dict[str, str]) -> str:
    return urlencode([(name, part) for name, value in wanted.items() for part in value.split(",")])


def by_hand(wanted: dict[str, str]) -> str:
    return urlencode(wanted, safe=",")


def _printed(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout.strip()


# Each language's own function, where its interpreter is installed.
ENCODERS: list[Callable[[dict[str, str]], str]] = [
    by_requests,
    by_httpx,
    urlencode,
    by_repetition,
    by_hand,
    *([by_url_search_params] if shutil.which("node") else []),
    *([by_http_build_query] if shutil.which("php") else []),
]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("encode", ENCODERS, ids=lambda encode: encode.__name__)
def test_lists_mean_the_same_however_they_are_encoded(
    customer: Customer, encode: Callable[[dict[str, str]], str]
) -> None:
    query = encode(WANTED)
    assert {name for name, _ in parse_qsl(query)} == set(WANTED)
    response = customer.get(f"/product?{query}", headers={"Accept": "application/json"})
    assert [product["sku"] for product in response.json()] == ["ONE", "TWO"]
