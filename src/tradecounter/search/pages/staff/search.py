"""`/search`: what the search box finds. Something that is named exactly opens at once."""

from dataclasses import dataclass, replace

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


class SearchQuery(Struct, frozen=True):
    """What is looked for."""

    q: str | None = None


@dataclass(frozen=True, slots=True)
class SearchPages:
    """The search."""

    desk: PageDesk
    parts: OfficeParts

    @page("/search", "Find anything", query=SearchQuery)
    async def search(self, call: Call) -> Response:
        text = " ".join((call.query(SearchQuery).q or "").split())
        if "\x00" in text or len(text) > LONGEST:
            raise invalid("q", f"must have at most {LONGEST} characters, without NUL characters")
        session = session_of(call.request.scope)
        member = None if session is None else session.person
        roles = member.roles if isinstance(member, StaffMember) else []
        groups = []
        if text:
            async with self.desk.reading() as tx:
                groups = await find_anything(
                    tx, text, lambda scope: allows(roles, scope), self.parts.contexts.views.snapshot
                )
        may = self.desk.view(call).may
        groups = [
            group if may(group.operation) else replace(group, hits=[replace(hit, path="") for hit in group.hits])
            for group in groups
        ]
        exact = {hit.path for group in groups for hit in group.hits if hit.exact}
        if len(exact) == 1 and "" not in exact:
            return self.desk.go(call, exact.pop())
        form = Filled(query_values(call.raw_query))
        return self.desk.show(call, "search/results.html", form=form, text=text, groups=groups)
