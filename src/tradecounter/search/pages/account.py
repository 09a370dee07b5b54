"""`/account/search`: what the search box of the account finds of the customer's own, and in the catalogue."""

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.parts.account import AccountParts
from tradecounter.search.find_anything import OWN_PRODUCT, find_own
from tradecounter.search.pages.both import SearchQuery, show_hits


class OwnSearchPages(Struct, frozen=True):
    """The search."""

    desk: PageDesk
    parts: AccountParts

    @page("/account/search", "Find anything", user_roles=("buyer", "accounts"), query=SearchQuery)
    async def search(self, call: Call) -> Response:
        query = call.query(SearchQuery)
        groups = []
        if query.text:
            may = self.desk.view(call).may
            view = await self.parts.views.of(call.customer_id) if may(OWN_PRODUCT) else None
            async with self.desk.reading() as tx:
                groups = await find_own(tx, call.customer_id, view, query.text, may)
        return show_hits(self.desk, call, query, groups)
