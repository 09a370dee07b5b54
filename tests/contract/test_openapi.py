"""The interface document: consistent, true of the responses, and equal to the committed file."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.guide import operators_guide
from support.interface import everything, problems_by, resolve
from support.service import Service
from tradecounter.edge.openapi.document import encode_document

COMMITTED = Path(__file__).parents[2] / "docs" / "openapi.json"
METHODS = {"get", "put", "post", "delete"}
COMMON_AMOUNT = "Pounds, two decimal places."
TYPES = {"string", "integer", "number", "boolean", "array", "object", "null"}


@pytest.fixture(scope="module")
def document(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = service.client().get("/openapi.json").json()
    return found


def _read_yaml(text: bytes) -> Any:
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 both are safe loaders


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def schemas(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every schema in the document, nested ones included."""
    holders = [found for found in everything(document) if "schema" in found]
    waiting = [found["schema"] for found in holders] + list(document["components"]["schemas"].values())
    while waiting:
        schema = waiting.pop()
        yield schema
        waiting += [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
        waiting += [schema[inner] for inner in ("items", "additionalProperties") if isinstance(schema.get(inner), dict)]


def test_the_committed_document_is_up_to_date(service: Service) -> None:
    made = encode_document(service.application.document("https://api.example"))
    assert COMMITTED.read_bytes().strip() == made.strip(), "docs/openapi.json is out of date: run `make docs`"


@pytest.mark.spec("4 GET /openapi.json, GET /openapi.yaml", "public; the interface document in both forms")
def test_json_and_yaml_are_equal_for_the_requested_host(service: Service) -> None:
    client = service.client()
    as_json, as_yaml = client.get("/openapi.json"), client.get("/openapi.yaml")
    assert as_json.headers["content-type"] == "application/json"
    assert as_yaml.headers["content-type"] == "application/yaml"
    assert as_json.json() == _read_yaml(as_yaml.content)
    assert as_json.json() == service.application.document(service.url)
    assert as_json.json()["servers"] == [{"url": service.url}]


def test_the_document_names_the_requested_host(service: Service) -> None:
    for host in ("shop.example", "shop.example:8443", "[::1]:80"):
        found = service.client(Host=host)
        assert found.get("/openapi.json").json()["servers"] == [{"url": f"http://{host}"}]
        assert _read_yaml(found.get("/openapi.yaml").content)["servers"] == [{"url": f"http://{host}"}]
        assert f"http://{host}/product" in found.get("/docs").text
        assert ".invalid" not in found.get("/docs").text + found.get("/openapi.json").text


@pytest.mark.spec("9 Versioning", "the document's version is 1.0, the paths have none")
def test_the_documents_header_matches_the_specification(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    assert document["info"]["version"] == "1.0"
    assert set(document) <= {"openapi", "info", "externalDocs", "servers", "tags", "paths", "components", "security"}
    assert all(tag["description"] for tag in document["tags"])


def test_every_reference_resolves_and_every_component_is_used(document: dict[str, Any]) -> None:
    references = {found["$ref"] for found in everything(document) if "$ref" in found}
    for reference in references:
        assert resolve(document, {"$ref": reference}) is not None
    for kind in ("schemas", "responses", "headers"):
        named = {f"#/components/{kind}/{name}" for name in document["components"][kind]}
        assert named <= references, f"nothing refers to {named - references}"


def test_operations_are_complete_and_their_names_unique(document: dict[str, Any]) -> None:
    tags = {tag["name"] for tag in document["tags"]}
    names = []
    for path, method, operation in operations(document):
        assert path.startswith("/")
        assert method in METHODS
        assert operation["summary"]
        assert set(operation["tags"]) <= tags
        assert re.fullmatch(r"[a-z][A-Za-z]+", operation["operationId"])
        names.append(operation["operationId"])
    assert len(set(names)) == len(names)


def test_parameters_are_declared_once_and_match_the_path(document: dict[str, Any]) -> None:
    for path, _, operation in operations(document):
        parameters = operation.get("parameters", [])
        places = [(parameter["in"], parameter["name"]) for parameter in parameters]
        assert len(set(places)) == len(places)
        assert {name for place, name in places if place == "path"} == set(re.findall(r"\{(\w+)\}", path))
        for parameter in parameters:
            assert parameter["in"] in {"path", "query", "header"}
            assert parameter["schema"]["type"] in TYPES
            assert parameter["description"]
            assert parameter.get("required", False) == (parameter["in"] == "path")


def test_responses_are_described_and_bodies_have_schemas(document: dict[str, Any]) -> None:
    for path, method, operation in operations(document):
        for status, given in operation["responses"].items():
            response = resolve(document, given)
            assert re.fullmatch(r"[2-5]\d\d", status)
            assert response["description"]
            assert all("schema" in media for media in response.get("content", {}).values())
            assert ("content" in response) == (status not in {"204", "304"}), (path, method, status)
            assert "X-Request-Id" in response["headers"]
        body = operation.get("requestBody")
        assert (body is not None) == (method in {"post", "put"})
        if body is not None:
            [media_type] = body["content"]
            general = {"413", "415"} if media_type == "application/json" else set()
            assert {"413", "415"} & set(operation["responses"]) == general
            assert "400" in operation["responses"]


@pytest.mark.spec("5 Authentication", "every endpoint but the public ones needs a credential")
def test_security_requirements_name_schemes_that_exist(document: dict[str, Any]) -> None:
    schemes = document["components"]["securitySchemes"]
    required = [*document["security"], *(need for _, _, o in operations(document) for need in o.get("security", []))]
    assert {name for need in required for name in need} == set(schemes)
    assert (schemes["apiKey"]["in"], schemes["apiKey"]["name"]) == ("header", "X-Api-Key")
    assert "`api-key`" in schemes["apiKey"]["description"]
    assert all(scheme.get("in") != "query" for scheme in schemes.values()), (
        "generated clients would send it in the query"
    )
    assert (schemes["bearer"]["type"], schemes["bearer"]["scheme"]) == ("http", "bearer")
    assert document["security"] == [{"apiKey": []}, {"bearer": []}]
    assert (schemes["clientBasic"]["type"], schemes["clientBasic"]["scheme"]) == ("http", "basic")
    assert document["paths"]["/oauth/token"]["post"]["security"] == [{"clientBasic": []}, {}]


def kinds(schema: dict[str, Any]) -> set[str]:
    found = schema.get("type", [])
    return {found} if isinstance(found, str) else set(found)


def test_schemas_are_sound(document: dict[str, Any]) -> None:
    anything = document["paths"]["/openapi.yaml"]["get"]["responses"]["200"]["content"]["application/yaml"]["schema"]
    for schema in schemas(document):
        assert schema is anything or {"type", "$ref", "anyOf", "enum"} & set(schema), schema
        assert kinds(schema) <= TYPES
        assert set(schema.get("required", [])) <= set(schema.get("properties", {}))
        assert "array" not in kinds(schema) or "items" in schema
        assert schema.get("anyOf") != []
        re.compile(schema.get("pattern", ""))
        for example in schema.get("examples", []):
            assert problems_by(document, schema)(example) == []


def test_every_property_and_every_operation_is_described(document: dict[str, Any]) -> None:
    described = [
        (f"{name}.{field}", resolve(document, member) | member)
        for name, schema in document["components"]["schemas"].items()
        for field, member in schema.get("properties", {}).items()
    ]
    described += list(document["components"]["schemas"].items())
    described += [(operation["operationId"], operation) for _, _, operation in operations(document)]
    assert [name for name, found in described if not found.get("description")] == []


def test_every_bound_is_exact_in_javascript(document: dict[str, Any]) -> None:
    for schema in schemas(document):
        for bound in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "maxLength", "maxItems"):
            assert abs(schema.get(bound, 0)) <= 2**53 - 1, schema


def test_a_page_has_no_last_number(document: dict[str, Any]) -> None:
    for path in ("/product", "/order"):
        [page] = [p["schema"] for p in document["paths"][path]["get"]["parameters"] if p["name"] == "page"]
        assert (page["type"], page["minimum"]) == ("integer", 1)
        assert not {"maximum", "format"} & set(page)


def test_a_saved_address_always_has_its_id(document: dict[str, Any]) -> None:
    for method, status in (("get", "200"), ("post", "201")):
        response = document["paths"]["/customer/address"][method]["responses"][status]
        schema = response["content"]["application/json"]["schema"]
        assert "id" in resolve(document, schema.get("items", schema))["required"]


def test_names_are_valid_identifiers_for_generators(document: dict[str, Any]) -> None:
    examples = [found["examples"] for found in everything(document) if isinstance(found.get("examples"), dict)]
    for name in [*document["components"]["schemas"], *(name for found in examples for name in found)]:
        assert re.fullmatch(r"([A-Z][a-z]+|SKU|OAuth)+", name), name
        assert not re.search("List(of|Of)", name)


@pytest.mark.spec("8 Rate limit", "429 until the window of five minutes ends; new orders and quotes are exempt")
def test_every_authenticated_operation_documents_401_403_and_429(document: dict[str, Any]) -> None:
    """Specification, sections 5 and 8: all authenticated operations; new orders and quotes have no rate limit."""
    for path, method, operation in operations(document):
        if "security" in operation:  # none is needed, or another
            continue
        wanted = {"401", "403", "429", "500", "503"}
        if method == "post" and path in {"/order", "/quote"}:
            wanted.remove("429")
            assert "429" not in operation["responses"]
        assert wanted <= set(operation["responses"]), (method, path)


def test_links_lead_from_responses_to_parameters_of_other_operations(document: dict[str, Any]) -> None:
    by_name = {operation["operationId"]: operation for _, _, operation in operations(document)}
    links = [
        (operation["operationId"], response["schema"], link)
        for _, _, operation in operations(document)
        for given in operation["responses"].values()
        for link in given.get("links", {}).values()
        for response in given["content"].values()
        if "application/json" in given["content"]
        if response is given["content"]["application/json"]
    ]
    assert {("createOrder", "confirmOrder"), ("confirmOrder", "getOrder"), ("createAddress", "deleteAddress")} <= {
        (start, link["operationId"]) for start, _, link in links
    }
    for _, schema, link in links:
        target = by_name[link["operationId"]]
        path_parameters = {p["name"] for p in target.get("parameters", []) if p["in"] == "path"}
        assert set(link.get("parameters", {})) == path_parameters
        assert "requestBody" in target or "x-request-body" not in link
        for expression in link.get("parameters", {}).values():
            assert pointed_at(document, schema, expression.removeprefix("$response.body#/").split("/"))


def pointed_at(document: dict[str, Any], schema: dict[str, Any], steps: list[str]) -> dict[str, Any]:
    """The schema of what a JSON pointer into a response finds."""
    for step in steps:
        schema = resolve(document, schema)
        schema = schema["items"] if step.isdigit() else schema["properties"][step]
    return schema


def test_an_invoice_is_a_pdf_file_and_nothing_else(document: dict[str, Any]) -> None:
    response = document["paths"]["/order/{reference}/invoice"]["get"]["responses"]["200"]
    assert response["content"] == {"application/pdf": {"schema": {"type": "string", "format": "binary"}}}


@pytest.mark.spec("1 General rules", "prices are numbers; gross is net and tax")
def test_amounts_are_numbers(document: dict[str, Any]) -> None:
    named = {"cost_net", "cost_tax", "cost_gross", "single_unit_cost", "credit_limit", "total_due", "weight_kg"}
    found = [
        (name, property_)
        for schema in document["components"]["schemas"].values()
        for name, property_ in schema.get("properties", {}).items()
        if name in named
    ]
    assert {name for name, _ in found} == named
    assert all(property_["type"] == "number" for _, property_ in found)


def test_an_amount_says_by_its_name_or_its_description_whether_vat_is_in_it(document: dict[str, Any]) -> None:
    described = [each.get("properties", {}).items() for each in document["components"]["schemas"].values()]
    amounts = {name for each in described for name, field in each if field.get("description") == COMMON_AMOUNT}
    assert amounts
    assert {name for name in amounts if not name.endswith(("_net", "_tax", "_gross"))} == set()


@pytest.mark.spec("4 GET /", "public; name and documentation, in the body and as links")
def test_the_index_names_the_documents_in_its_body_and_in_its_links(service: Service) -> None:
    response = service.client().get("/")
    names = {"openapi_json": f"{service.url}/openapi.json", "openapi_yaml": f"{service.url}/openapi.yaml"}
    assert response.json()["name"] == "Tradecounter"
    assert names.items() <= response.json()["documentation"].items()
    links = {(link["rel"], link["url"]) for link in map(parsed_link, response.headers["Link"].split(", "))}
    assert links >= {("service-desc", url) for url in names.values()}
    for _, url in links:
        assert service.client().get(url).status_code == 200


def parsed_link(text: str) -> dict[str, str]:
    match = re.fullmatch(r'<(?P<url>[^<>"]+)>; rel="(?P<rel>[a-z-]+)"; type="[a-z/]+"', text)
    assert match is not None, text
    return match.groupdict()


def test_public_texts_do_not_refer_to_internal_documents(service: Service) -> None:
    client = service.client()
    for text in (*(client.get(path).text for path in ("/openapi.yaml", "/docs", "/guide")), operators_guide()):
        assert not re.search(r"\b(specification|decisions)\b", text, re.IGNORECASE)


def test_errors_are_described_in_words_of_the_operation(document: dict[str, Any]) -> None:
    def meaning(path: str, method: str, status: str) -> str:
        response = resolve(document, document["paths"][path][method]["responses"][status])
        return str(response["description"])

    assert "invoiced" in meaning("/order/{reference}/invoice", "get", "412")
    for path, method in (("/order", "post"), ("/order/{reference}", "put")):
        assert "invoice" not in meaning(path, method, "412")
        assert "shipping method" in meaning(path, method, "412")
    assert "empty" not in meaning("/oauth/token", "post", "401")


def test_the_quote_example_does_not_request_automatic_confirmation(document: dict[str, Any]) -> None:
    [media] = document["paths"]["/quote"]["post"]["requestBody"]["content"].values()
    assert all("auto_confirm" not in example["value"] for example in media["examples"].values())
