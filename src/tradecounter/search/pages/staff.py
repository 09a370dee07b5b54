"""`/search`: what the search box of the back office finds."""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.pages.operation import page, roles_of_caller
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.permissions import allows
from tradecounter.edge.rest.call import Call
from tradecounter.parts.back_office import OfficeParts
from tradecounter.search.find_anything import find_anything
from tradecounter.search.pages.both import SearchQuery, show_hits


class SearchPages(Struct, frozen=True):
    """The search."""

    desk: PageDesk
    parts: OfficeParts

    @page("/search", "Find anything", query=SearchQuery)
    async def search(self, call: Call) -> Response:
        query = call.query(SearchQuery)
        roles = roles_of_caller(call)
        groups = []
        if query.text:
            memory = self.parts.views
            async with self.desk.reading() as tx:
                groups = await find_anything(tx, query.text, lambda scope: allows(roles, scope), memory)
        return show_hits(self.desk, call, query, groups)
