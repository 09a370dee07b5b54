"""`/search`: what the search box finds. What is named exactly, or is the only hit, opens at once."""

from dataclasses import dataclass, replace
from typing import Literal

from msgspec import Struct
from starlette.responses import Response

from tradecounter.edge.page_kit.forms import Filled, query_values
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.people import StaffMember
from tradecounter.edge.permissions import allows
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import session_of
from tradecounter.kit.errors import invalid
from tradecounter.parts.back_office import OfficeParts
from tradecounter.search.operations import LONGEST, find_anything

_FROM_LIVE = 2  # characters
_MOST_LIVE = 5  # hits of a group


class SearchQuery(Struct, frozen=True):
    """What is looked for. `live` asks for the first hits while somebody types."""

    q: str | None = None
    live: Literal["1"] | None = None


@dataclass(frozen=True, slots=True)
class SearchPages:
    """The search."""

    desk: PageDesk
    parts: OfficeParts

    @page("/search", "Find anything", query=SearchQuery)
    async def search(self, call: Call) -> Response:
        query = call.query(SearchQuery)
        text = " ".join((query.q or "").split())
        if "\x00" in text or len(text) > LONGEST:
            raise invalid("q", f"must have at most {LONGEST} characters, without NUL characters")
        session = session_of(call.request.scope)
        member = None if session is None else session.person
        roles = member.roles if isinstance(member, StaffMember) else []
        groups = []
        if len(text) >= (_FROM_LIVE if query.live else 1):
            async with self.desk.reading() as tx:
                groups = await find_anything(
                    tx, text, lambda scope: allows(roles, scope), self.parts.contexts.views.snapshot
                )
        may = self.desk.view(call).may
        groups = [
            group if may(group.operation) else replace(group, hits=[replace(hit, path="") for hit in group.hits])
            for group in groups
        ]
        if query.live:
            groups = [replace(group, hits=group.hits[:_MOST_LIVE]) for group in groups]
            shown = text if len(text) >= _FROM_LIVE else ""
            return self.desk.show(call, "search/results.html", form=Filled({}), text=shown, groups=groups)
        exact = {hit.path for group in groups for hit in group.hits if hit.exact}
        wanted = exact or {hit.path for group in groups for hit in group.hits}
        if len(wanted) == 1 and "" not in wanted:
            return self.desk.go(call, wanted.pop())
        form = Filled(query_values(call.raw_query))
        return self.desk.show(call, "search/results.html", form=form, text=text, groups=groups)
