"""`GET /` and the interface document's addresses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.rest.any_address import ANY_ADDRESS
from tradecounter.rest.call import Call
from tradecounter.rest.operation import Answer, Operation, endpoint
from tradecounter.rest.responses import json_response, to_json


class Documentation(Struct):
    """Where the interface documents are, and for people the reference and the guide."""

    openapi_json: Annotated[str, Meta(description="The interface document as JSON.")]
    openapi_yaml: Annotated[str, Meta(description="The interface document as YAML.")]
    reference: Annotated[str, Meta(description="The reference of every operation and field, to read and to try.")]
    guide: Annotated[str, Meta(description="The guide for customers.")]


class Index(Struct):
    """The service and its documentation."""

    name: Annotated[str, Meta(description="The service's name.")]
    documentation: Documentation


@dataclass(frozen=True, slots=True)
class Documents:
    """The interface document, as JSON and as YAML."""

    json: bytes
    yaml: bytes

    def at(self, base_url: str) -> "Documents":
        """Return the documents of ANY_ADDRESS for a base address."""
        address = to_json(base_url)[1:-1]
        return Documents(*(text.replace(ANY_ADDRESS.encode(), address) for text in (self.json, self.yaml)))


@dataclass(frozen=True, slots=True)
class IndexEndpoints:
    """The index; `documents` returns the interface document for a base address."""

    documents: Callable[[str], Documents]

    @endpoint(
        Operation(
            method="GET",
            path="/",
            name="getIndex",
            tag="Service",
            summary="The service and its documentation",
            description="Also says in a `Link` header where the interface documents are.",
            answer=Answer(200, "Where the interface documents are.", Index, headers=("Link",)),
            public=True,
        )
    )
    async def show_index(self, call: Call) -> Response:
        """Answer `GET /`."""
        json_url, yaml_url = f"{call.base_url}/openapi.json", f"{call.base_url}/openapi.yaml"
        links = (
            f'<{json_url}>; rel="service-desc"; type="application/json", '
            f'<{yaml_url}>; rel="service-desc"; type="application/yaml", '
            f'<{call.base_url}/docs>; rel="service-doc"; type="text/html", '
            f'<{call.base_url}/guide>; rel="help"; type="text/html"'
        )
        pages = (f"{call.base_url}/docs", f"{call.base_url}/guide")
        return json_response(Index("Tradecounter", Documentation(json_url, yaml_url, *pages)), headers={"Link": links})

    @endpoint(
        Operation(
            method="GET",
            path="/openapi.json",
            name="getOpenapiJson",
            tag="Service",
            summary="The interface document as JSON",
            description="This document. Generators of clients read it.",
            answer=Answer(200, "An OpenAPI 3.1 document.", dict),
            public=True,
        )
    )
    async def show_json(self, call: Call) -> Response:
        """Answer `GET /openapi.json`."""
        return Response(self.documents(call.base_url).json, media_type="application/json")

    @endpoint(
        Operation(
            method="GET",
            path="/openapi.yaml",
            name="getOpenapiYaml",
            tag="Service",
            summary="The interface document as YAML",
            description="The same document as `/openapi.json`.",
            answer=Answer(200, "An OpenAPI 3.1 document.", yaml=True),
            public=True,
        )
    )
    async def show_yaml(self, call: Call) -> Response:
        """Answer `GET /openapi.yaml`."""
        return Response(self.documents(call.base_url).yaml, media_type="application/yaml")
