"""`GET /picture/{name}`: a picture of a product. Its address has its digest, so it may be cached for ever."""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.edge.page_kit.page import page_endpoint
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.products.picture_addresses import NAME
from tradecounter.products.queries.pictures import content_of, find_media_type

_OK = 200
_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Vary": "Accept-Encoding",
}


class PictureEndpoints(Struct, frozen=True):
    """The addresses of pictures."""

    database: Database

    @page_endpoint("/picture/{name}", "A picture of a product")
    async def show_picture(self, call: Call) -> Response:
        named = NAME.fullmatch(call.path("name"))
        if named is None:
            raise _unknown()
        digest = named["digest"]
        async with reading(self.database) as tx:
            media_type = await find_media_type(tx, digest)
            if media_type is None:
                raise _unknown()
            response = conditional_response(call, bytes.fromhex(digest), media_type, Response)
            if response.status_code == _OK:
                response.body = await content_of(tx, digest)
                response.headers["Content-Length"] = str(len(response.body))
        response.headers["Content-Type"] = media_type
        for name, value in _HEADERS.items():
            response.headers[name] = value
        return response


def _unknown() -> DomainError:
    return DomainError(Kind.NOT_FOUND, "there is no such picture")
