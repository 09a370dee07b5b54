"""`GET /api` of the back office, and its interface document as JSON and YAML."""

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.edge.openapi.document import YAML, Documents, json_operation, yaml_operation
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.negotiation import JSON
from tradecounter.edge.rest.operation import endpoint


class BackOfficeDocumentation(Struct):
    """The addresses of the interface documents and the reference."""

    openapi_json: Annotated[str, Meta(description="The interface document as JSON.")]
    openapi_yaml: Annotated[str, Meta(description="The interface document as YAML.")]
    reference: Annotated[str, Meta(description="The reference of all operations and fields.")]


class BackOfficeService(Struct):
    """The back office and its documentation."""

    name: Annotated[str, Meta(description="The site's name.")]
    documentation: BackOfficeDocumentation


def _index(base_url: str) -> BackOfficeService:
    addresses = (f"{base_url}/api/{name}" for name in ("openapi.json", "openapi.yaml", "docs"))
    return BackOfficeService("Tradecounter back office", BackOfficeDocumentation(*addresses))


_INDEX = Described("The addresses of the documents.", _index("https://backoffice.example"), "Index")
_SERVICE = Subject(tag="Service", public=True, described={BackOfficeService: _INDEX})


class BackOfficeIndex(Struct, frozen=True):
    """The index; `documents` returns the interface document."""

    documents: Callable[[], Documents]

    @_SERVICE.shows("/api")
    async def get_index(self, call: Call) -> BackOfficeService:
        """The back office and its documentation."""
        return _index(call.base_url)

    @endpoint(json_operation("/api/openapi.json"))
    async def show_json(self, call: Call) -> Response:
        return Response(self.documents().json_at(call.base_url), media_type=JSON)

    @endpoint(yaml_operation("/api/openapi.yaml"))
    async def show_yaml(self, call: Call) -> Response:
        return Response(self.documents().yaml_at(call.base_url), media_type=YAML)
