"""The query of the search pages, and how hits are shown."""

from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import query_values
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import invalid
from tradecounter.products.search.query import as_typed
from tradecounter.search.find_anything import LONGEST, Group

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


def show_hits(desk: PageDesk, call: Call, query: SearchQuery, groups: Sequence[Group]) -> Response:
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
