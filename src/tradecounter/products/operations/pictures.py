"""`GET /picture/{name}`: a picture of a product. Its address has its digest, so it may be cached for ever."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.edge.page_kit.page import page_endpoint
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.conditional import conditional_response
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.products.picture_addresses import NAME
from tradecounter.products.queries.pictures import find_picture

_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Vary": "Accept-Encoding",
}


@dataclass(frozen=True, slots=True)
class PictureEndpoints:
    """The addresses of pictures."""

    database: Database

    @page_endpoint("/picture/{name}", "A picture of a product")
    async def show_picture(self, call: Call) -> Response:
        named = NAME.fullmatch(call.path("name"))
        found = None
        if named is not None:
            async with reading(self.database) as tx:
                found = await find_picture(tx, named["digest"])
        if named is None or found is None:
            raise DomainError(Kind.NOT_FOUND, "there is no such picture")
        picture = found
        digest = bytes.fromhex(named["digest"])
        response = conditional_response(call, digest, picture.media_type, lambda: Response(picture.content))
        response.headers["Content-Type"] = picture.media_type
        for name, value in _HEADERS.items():
            response.headers[name] = value
        return response
