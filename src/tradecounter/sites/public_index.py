"""`GET /`, and the interface document as JSON and YAML."""

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.edge.openapi.document import YAML, Documents, json_operation, yaml_operation
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.headers import LINK
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.operation import Operation, Success, endpoint
from tradecounter.edge.rest.responses import json_response


class Documentation(Struct):
    """The URLs of the interface documents, the reference and the guide."""

    openapi_json: Annotated[str, Meta(description="The interface document as JSON.")]
    openapi_yaml: Annotated[str, Meta(description="The interface document as YAML.")]
    reference: Annotated[str, Meta(description="The reference of all operations and fields, with a form to try them.")]
    guide: Annotated[str, Meta(description="The guide for customers.")]


class ServiceIndex(Struct):
    """The service and its documentation."""

    name: Annotated[str, Meta(description="The service's name.")]
    documentation: Documentation


_EXAMPLE = ServiceIndex(
    "Tradecounter",
    Documentation(
        "https://api.example/openapi.json",
        "https://api.example/openapi.yaml",
        "https://api.example/docs",
        "https://api.example/guide",
    ),
)


class IndexEndpoints(Struct, frozen=True):
    """The index; `documents` returns the interface document for a base URL."""

    documents: Callable[[str], Documents]

    @endpoint(
        Operation(
            method="GET",
            path="/",
            name="getIndex",
            tag="Service",
            summary="The service and its documentation",
            description="The `Link` header also has the URLs of the interface documents.",
            success=Success(
                200, "The URLs of the interface documents.", ServiceIndex, {"Index": _EXAMPLE}, headers=(LINK,)
            ),
            public=True,
        )
    )
    async def show_index(self, call: Call) -> Response:
        json_url, yaml_url = f"{call.base_url}/openapi.json", f"{call.base_url}/openapi.yaml"
        links = (
            f'<{json_url}>; rel="service-desc"; type="application/json", '
            f'<{yaml_url}>; rel="service-desc"; type="application/yaml", '
            f'<{call.base_url}/docs>; rel="service-doc"; type="text/html", '
            f'<{call.base_url}/guide>; rel="help"; type="text/html"'
        )
        pages = (f"{call.base_url}/docs", f"{call.base_url}/guide")
        return json_response(
            ServiceIndex("Tradecounter", Documentation(json_url, yaml_url, *pages)), headers={"Link": links}
        )

    @endpoint(json_operation("/openapi.json", "This document. Generate clients from it."))
    async def show_json(self, call: Call) -> Response:
        return Response(self.documents(call.base_url).json, media_type=JSON)

    @endpoint(yaml_operation("/openapi.yaml", "The same document as `/openapi.json`."))
    async def show_yaml(self, call: Call) -> Response:
        return Response(self.documents(call.base_url).yaml, media_type=YAML)
