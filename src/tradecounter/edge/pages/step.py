"""Declares a form that changes something, together with the page that shows it."""

import inspect
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial, wraps
from typing import Any, TypedDict, Unpack, get_type_hints
from urllib.parse import quote

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.permissions import UserRole
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import Parameter, shown_at

Shown = Callable[[Any, Call, Filled], Awaitable[Response]]
Handler = Callable[[Any, Call], Awaitable[Response]]


class NoFields(Struct):
    """A form that only asks."""


class Access(TypedDict, total=False):
    """Who may take a step; see `PageOperation`."""

    scope: str
    roles: tuple[str, ...]
    user_roles: tuple[UserRole, ...]
    dangerous: bool
    path_parameters: tuple[Parameter, ...]


def step(
    path: str,
    title: str,
    *,
    shown: Shown,
    to: str | Callable[[Any], str],
    done: str | Callable[[Any], str] = "",
    reveals: Callable[[Any, Call, Any], Response] | None = None,
    **access: Unpack[Access],
) -> Callable[[Callable[..., Awaitable[Any]]], Handler]:
    """Declare a step by the method that takes it: `GET` shows its form, `POST` takes it.

    The method takes what it needs, by these names: `tx`, `call`, `now`, and `body`, the form's fields as a struct.
    `shown` shows the form, first and after an error. Then the browser goes to the page `to`, whose path may have
    parameters of the step's in braces, and that page shows the message `done`. Both may be functions of what the
    method returns. A step that `reveals` something, such as a new secret, responds with a page about what the method
    returns, once; the same form sent again leads to the page `to`.
    """

    def declare(method: Callable[..., Awaitable[Any]]) -> Handler:
        takes = inspect.signature(method).parameters
        shape: type[Struct] = get_type_hints(method).get("body", NoFields)

        @wraps(method)
        async def show_form(pages: Any, call: Call) -> Response:
            return await shown(pages, call, Filled())

        @wraps(method)
        async def take(pages: Any, call: Call) -> Response:
            async def work(tx: Transaction, body: Struct, now: datetime) -> Any:
                available = {"tx": tx, "call": call, "body": body, "now": now}
                return await method(pages, **{name: value for name, value in available.items() if name in takes})

            following = {
                "again": lambda filled: shown(pages, call, filled),
                "to": to if callable(to) else _filled_in(to, call),
            }
            response: Response
            if reveals is None:
                response = await pages.desk.change(call, shape, work, **following, done=done)
            else:
                show = partial(reveals, pages, call)
                response = await pages.desk.reveal(call, shape, work, **following, show=show, repeated=done)
            return response

        return shown_at(page(path, title, **access)(show_form))(form(path, title, **access)(take))

    return declare


def _filled_in(path: str, call: Call) -> str:
    return path.format_map({name: quote(str(value), safe="") for name, value in call.request.path_params.items()})
