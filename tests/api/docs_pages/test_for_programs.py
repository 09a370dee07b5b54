"""`/llms.txt`, the guide and the reference as Markdown, and `security.txt`."""

import re
from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import urljoin, urlsplit

import pytest
from markdown_it import MarkdownIt

from support.cluster import Cluster
from support.error_bodies import error_body
from support.guide import PLACE
from support.interface import interface_document
from support.service import Service, running_service

TEXTS = {"/llms.txt": "text/plain", "/guide.md": "text/markdown", "/docs.md": "text/markdown"}
_LINK = re.compile(r"\]\((\S+?)\)")


@pytest.mark.parametrize("path", TEXTS)
def test_a_text_is_plain_and_cached_and_names_the_readers_address(service: Service, path: str) -> None:
    client = service.client(Host="shop.example")
    response = client.get(path)
    assert response.headers["content-type"] == f"{TEXTS[path]}; charset=utf-8"
    assert "http://shop.example" in response.text
    assert "api.example" not in response.text
    assert client.get(path, headers={"If-None-Match": response.headers["ETag"]}).status_code == 304


@pytest.mark.parametrize("path", TEXTS)
def test_the_links_of_a_text_lead_somewhere(service: Service, path: str) -> None:
    text = service.client().get(path).text
    links = [urljoin(f"{service.url}{path}", link) for link in _LINK.findall(re.sub(r"`[^`]*`", "", text))]
    own = {link.partition("#")[0] for link in links if urlsplit(link).netloc == urlsplit(service.url).netloc}
    assert own
    for link in own:
        assert service.client().get(link).status_code == 200, link


def test_llms_txt_lists_the_texts_and_every_operation(service: Service) -> None:
    text = service.client().get("/llms.txt").text
    title, _, summary, *_ = text.splitlines()
    assert title.startswith("# ")
    assert summary.startswith("> ")
    for path, methods in interface_document()["paths"].items():
        for method, operation in methods.items():
            assert f"[{method.upper()} {path}]({service.url}/docs.md): {operation['summary']}" in text


def test_the_guide_as_markdown_is_the_written_one(service: Service) -> None:
    text, written = service.client().get("/guide.md").text, PLACE.read_text()
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        line for line in written.splitlines() if line.startswith("#")
    ]
    assert "$BASE" not in text


def test_the_reference_as_markdown_has_every_operation_parameter_and_field(service: Service) -> None:
    text, document = service.client().get("/docs.md").text, interface_document()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            [part] = re.findall(
                rf"^`{method.upper()} {re.escape(path)}` \({operation['operationId']}\)(.*?)(?=^##)",
                text,
                re.MULTILINE | re.DOTALL,
            )
            for parameter in operation.get("parameters", ()):
                assert f"- `{parameter['name']}` (" in part, (path, parameter["name"])
    for name in ("Product", "Order", "CreateOrderRequest", "CustomerAddress"):
        for field in document["components"]["schemas"][name]["properties"]:
            assert f"- `{field}` (" in text


def test_the_reference_as_markdown_is_well_formed(service: Service) -> None:
    tokens = MarkdownIt("commonmark").parse(service.client().get("/docs.md").text)
    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    summaries = [op["summary"] for methods in interface_document()["paths"].values() for op in methods.values()]
    assert set(summaries) <= set(headings)
    assert sum(token.type == "fence" for token in tokens) >= len(summaries)


@pytest.fixture
def secured(postgres: Cluster, request: pytest.FixtureRequest) -> Iterator[Service]:
    with postgres.database() as url, running_service(url, security_contact=request.param) as running:
        yield running


@pytest.mark.parametrize(
    ("secured", "contact"),
    [
        ("security@shop.example", "mailto:security@shop.example"),
        ("The crew <security@shop.example>", "mailto:security@shop.example"),
        ("https://shop.example/report", "https://shop.example/report"),
    ],
    indirect=["secured"],
)
def test_security_txt_has_the_contact_of_the_settings_and_is_valid_for_half_a_year(
    secured: Service, contact: str
) -> None:
    response = secured.client().get("/.well-known/security.txt")
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.text.splitlines() == [
        f"Contact: {contact}",
        "Expires: 2026-12-13T00:00:00Z",
        "Preferred-Languages: en",
        f"Canonical: {secured.url}/.well-known/security.txt",
    ]


@pytest.mark.parametrize("secured", [None], indirect=True)
def test_without_a_contact_there_is_no_security_txt(secured: Service) -> None:
    response = secured.client().get("/.well-known/security.txt")
    assert (response.status_code, response.json()) == (404, error_body("not_found", "unknown path"))
