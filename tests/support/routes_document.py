"""Every operation, page and command, and the function that serves it, for `docs/routes.md`.

`make docs` writes the page; `tests/contract/test_routes.py` compares it.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from support.page_routes import page_routes
from tradecounter.db.pool import Database
from tradecounter.edge.pages.page_site import ACCOUNT, BACK_OFFICE, PageSite
from tradecounter.edge.rest.operation import Endpoint
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import Settings
from tradecounter.sites.back_office import BackOffice
from tradecounter.sites.command_line import app
from tradecounter.sites.public import Application

_SOURCE = Path(__file__).parents[2] / "src"
Row = tuple[str, str, str]

_HEAD = """# Routes

Every operation, page and command, with the function that serves it. `make docs` writes this page.
"""


def routes_document() -> str:
    """Return the page that `docs/routes.md` holds."""
    database = Database("postgresql://")
    public = Application(Settings(), database, SystemClock())
    office = BackOffice(Settings(), database, SystemClock())
    parts = (
        ("The customers' API", _of_endpoints(public.endpoints)),
        ("The back-office API", _of_endpoints(office.endpoints)),
        ("Pages of customers", _of_pages(ACCOUNT)),
        ("Pages of staff", _of_pages(BACK_OFFICE)),
        ("Commands", _of_commands()),
    )
    return "\n".join([_HEAD, *(_table(title, rows) for title, rows in parts)])


def _table(title: str, rows: Iterable[Row]) -> str:
    lines = [f"## {title}\n", "| Route | What it is | Function |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| `{route}` | {what} | {where} |" for route, what, where in rows), ""])


def _of_endpoints(endpoints: Iterable[Endpoint]) -> Iterator[Row]:
    for endpoint in endpoints:
        operation = endpoint.operation
        yield f"{operation.method} {operation.path}", operation.summary, _place_of(endpoint.handler)


def _of_pages(site: PageSite) -> Iterator[Row]:
    for route in page_routes(site):
        yield f"{route.method} {route.path}", route.operation.summary, _place_of(route.handler)


def _of_commands() -> Iterator[Row]:
    yield from _of_command("tradecounter", get_command(app))


def _of_command(name: str, command: Any) -> Iterator[Row]:
    if hasattr(command, "list_commands"):
        context = command.make_context(name, [], resilient_parsing=True)
        for each in command.list_commands(context):
            yield from _of_command(f"{name} {each}", command.get_command(context, each))
    else:
        [what, *_] = (command.help or "").split("\n\n")
        yield name, " ".join(what.split()).removesuffix("."), _place_of(command.callback)


def _place_of(function: Callable[..., Any]) -> str:
    """Return a link to a function's file; decorators are looked behind."""
    own = inspect.unwrap(function)
    path = Path(inspect.getfile(own)).relative_to(_SOURCE)
    return f"[`{own.__name__}` in {path.relative_to('tradecounter')}](../src/{path})"


if __name__ == "__main__":
    sys.stdout.write(routes_document())
