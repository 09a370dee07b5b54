"""`GET /`, and the interface document as JSON and YAML."""

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.edge.openapi.document import YAML, Documents, json_operation, yaml_operation
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.headers import LINK
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.operation import EXAMPLE_ADDRESS, endpoint
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


def _index(base_url: str) -> ServiceIndex:
    addresses = (f"{base_url}/{name}" for name in ("openapi.json", "openapi.yaml", "docs", "guide"))
    return ServiceIndex("Tradecounter", Documentation(*addresses))


_INDEX = Described("The URLs of the interface documents.", _index(EXAMPLE_ADDRESS), "Index")
_SERVICE = Subject(tag="Service", public=True, described={ServiceIndex: _INDEX})


class IndexEndpoints(Struct, frozen=True):
    """The index; `documents` returns the interface document."""

    documents: Callable[[], Documents]

    @_SERVICE.shows("/", headers=(LINK,))
    async def get_index(self, call: Call) -> ServiceIndex | Response:
        """The service and its documentation.

        The `Link` header also has the URLs of the interface documents.
        """
        found = _index(call.base_url)
        named = found.documentation
        links = (
            f'<{named.openapi_json}>; rel="service-desc"; type="application/json", '
            f'<{named.openapi_yaml}>; rel="service-desc"; type="application/yaml", '
            f'<{named.reference}>; rel="service-doc"; type="text/html", '
            f'<{named.guide}>; rel="help"; type="text/html"'
        )
        return json_response(found, headers={"Link": links})

    @endpoint(json_operation("/openapi.json", "This document. Generate clients from it."))
    async def show_json(self, call: Call) -> Response:
        return Response(self.documents().json_at(call.base_url), media_type=JSON)

    @endpoint(yaml_operation("/openapi.yaml", "The same document as `/openapi.json`."))
    async def show_yaml(self, call: Call) -> Response:
        return Response(self.documents().yaml_at(call.base_url), media_type=YAML)
