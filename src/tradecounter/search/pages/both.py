"""`/search` and `/account/search`: what the search boxes of the two sites find."""

from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.pages.operation import page, roles_of_caller
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.page_site import BothSites
from tradecounter.edge.permissions import allows
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import invalid
from tradecounter.parts.site import SiteParts
from tradecounter.products.search.query import as_typed
from tradecounter.search.find_anything import LONGEST, OWN_PRODUCT, Group, find_anything, find_own

_FROM_LIVE = 2  # characters
_MOST_LIVE = 5  # hits of a group


class SearchQuery(Struct, frozen=True):
    """What is looked for. `live` asks for the first hits while somebody types."""

    q: str | None = None
    live: Literal["1"] | None = None

    @property
    def text(self) -> str:
        """What is looked for, or nothing while too little is typed. Raises DomainError (invalid)."""
        text = " ".join((self.q or "").split())
        if "\x00" in text or len(text) > LONGEST:
            raise invalid("q", f"must have at most {LONGEST} characters, without NUL characters")
        return text if len(text) >= (_FROM_LIVE if self.live else 1) else ""


class SearchPages(Struct, BothSites, frozen=True):
    """The search: of staff in everything, of a user in what is the customer's own, and in the catalogue."""

    desk: PageDesk
    parts: SiteParts

    @page("/search", "Find anything", user_roles=("buyer", "accounts"), query=SearchQuery)
    async def search(self, call: Call) -> Response:
        query = call.query(SearchQuery)
        return _show_hits(self.desk, call, query, await self._found(call, query.text) if query.text else [])

    async def _found(self, call: Call, text: str) -> list[Group]:
        customer_id, views = self.owner(call), self.parts.views
        if customer_id is None:
            roles = roles_of_caller(call)
            async with self.desk.reading() as tx:
                return await find_anything(tx, text, lambda scope: allows(roles, scope), views)
        may = self.desk.view(call).may
        view = await views.of(customer_id) if may(OWN_PRODUCT) else None
        async with self.desk.reading() as tx:
            return await find_own(tx, customer_id, view, text, may)


def _show_hits(desk: PageDesk, call: Call, query: SearchQuery, groups: Sequence[Group]) -> Response:
    """Show the hits with links to the pages that the person may open; the only hit opens at once.

    It does not if the words were read as others: a page says so first. Hits of one kind are shown by the page that
    has all of that kind, if there is one.
    """
    may = desk.view(call).may
    shown = [
        group if may(group.operation) else replace(group, hits=[replace(hit, path="") for hit in group.hits])
        for group in groups
        if group.hits
    ]
    if query.live:
        first = [replace(group, hits=group.hits[:_MOST_LIVE]) for group in shown]
        return desk.show(call, "search/results.html", form=Filled({}), text=query.text, groups=first, as_typed="")
    all_hits = [hit for group in shown for hit in group.hits]
    hits = [hit for hit in all_hits if not hit.follows] or all_hits
    exact = {hit.path for hit in hits if hit.exact}
    is_read_otherwise = not exact and any(group.note for group in shown)
    wanted = exact or {hit.path for hit in hits}
    if len(wanted) == 1 and "" not in wanted and not is_read_otherwise:
        return desk.go(call, wanted.pop())
    if len(shown) == 1 and shown[0].all_at and not exact:
        return desk.go(call, shown[0].all_at)
    form = Filled(query_values(call.raw_query))
    typed = f"{desk.view(call).here}?{urlencode({'q': as_typed(query.text)})}"
    return desk.show(call, "search/results.html", form=form, text=query.text, groups=shown, as_typed=typed)
