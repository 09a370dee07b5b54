"""Declares a form that changes something: a step with a page of its own, or an action on another page."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from functools import wraps
from types import MappingProxyType
from typing import Any, Unpack, get_type_hints
from urllib.parse import quote

from msgspec import Struct, field
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.named_arguments import reading_by_name, taking_by_name
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.pages.operation import Access, form, page
from tradecounter.edge.pages.page_desk import PageGroup
from tradecounter.edge.pages.page_site import BothSites
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import with_page

ShowForm = Callable[[Any, Call, Filled], Awaitable[Response]]
Values = Mapping[str, Any]  # what a template shows, by its name there
ReadValues = Callable[..., Awaitable[Values]]
NO_VALUES: Values = MappingProxyType({})
Handler = Callable[[Any, Call], Coroutine[Any, Any, Response]]

_TAKEN = ("tx", "call", "body", "now", "prepared")
_SHOWN_BY = ("call", "filled")


class NoFields(Struct):
    """A form without fields."""


class Question(Struct, frozen=True, kw_only=True):
    """The question of a step without fields: its text, its button, and the page to go back to."""

    text: str
    button: str
    back: str
    back_name: str
    title: str = ""  # by default that of the step
    detail: Sequence[str] = ()  # lines below the text, such as an address
    letter: tuple[str, str] | None = None  # the subject and the text of an e-mail that is sent
    danger: bool = False
    keeps: Mapping[str, str] = field(default_factory=dict)  # hidden fields of the form


def step(
    path: str,
    title: str,
    *,
    template: str = "",
    values: Values | ReadValues = NO_VALUES,
    asks: Callable[..., Awaitable[Question]] | None = None,
    shown: ShowForm | None = None,
    to: str | Callable[[Any], str],
    done: str | Callable[[Any], str] = "",
    reveals: Callable[[Any, Call, Any], Response] | None = None,
    before: Callable[[Any, Call, Any, str], Awaitable[Any]] | None = None,
    **access: Unpack[Access],
) -> Callable[[Callable[..., Awaitable[Any]]], Handler]:
    """Declare a step by the method that takes it: `GET` shows its form, `POST` takes it.

    The method takes what it needs by these names: `tx`, `call`, `now`; `body`, the form's struct; and `prepared`, the
    result of `before`, which runs before the transaction with the form's struct and key.

    The form is a `template` with these `values`, or with those that the method `values` returns; a step without fields
    only `asks` the question that a method returns. Either method takes by name `tx`, a reading, `call`, `now` and
    `filled`, the form after an error. A form that needs more than a reading is `shown` by a method, at first and after
    an error.

    Then the browser goes to the page `to`, whose path may have the step's parameters in braces, and that page shows the
    message `done`. Both may be functions of what the method returns.

    A step that `reveals` something, such as a new secret, responds once with a page about what the method returns; the
    same form sent again leads to the page `to`. Its form must be a `plain` one.
    """
    if [bool(template), asks is not None, shown is not None].count(True) != 1:
        raise TypeError(f"{path}: a step has a `template`, `asks` something or is `shown` by a method")
    show_form = shown or form_template(template, values)
    if asks is not None:
        show_form = _asking(asks, plain=reveals is not None)

    def declare(method: Callable[..., Awaitable[Any]]) -> Handler:
        @wraps(method)
        async def open_page(pages: PageGroup, call: Call) -> Response:
            return await show_form(pages, call, Filled())

        take = form(path, title, **access)(_taking(method, show_form, to, done, reveals, before))
        return with_page(page(path, title, **access)(open_page))(take)

    return declare


def _asking(asks: Callable[..., Awaitable[Question]], *, plain: bool) -> ShowForm:
    read = reading_by_name(asks, _SHOWN_BY)

    async def show_question(pages: PageGroup, call: Call, filled: Filled) -> Response:
        question = await read(pages, call=call, filled=filled)
        return pages.desk.show(call, "question.html", form=filled, question=question, plain=plain)

    return show_question


def form_template(template: str, values: Values | ReadValues = NO_VALUES) -> ShowForm:
    """Return what shows a form as `step` does with a template and its values."""
    found = reading_by_name(values, _SHOWN_BY) if callable(values) else values

    async def render_form(pages: PageGroup, call: Call, filled: Filled) -> Response:
        read_values = await found(pages, call=call, filled=filled) if callable(found) else found
        return pages.desk.show(call, template, form=filled, **read_values)

    return render_form


def action(
    path: str,
    title: str,
    *,
    shown: ShowForm,
    to: str | Callable[[Any], str],
    done: str | Callable[[Any], str] = "",
    **access: Unpack[Access],
) -> Callable[[Callable[..., Awaitable[Any]]], Handler]:
    """Declare what a form of another page does, as `step` does; `shown` shows that page after an error."""

    def declare(method: Callable[..., Awaitable[Any]]) -> Handler:
        return form(path, title, **access)(_taking(method, shown, to, done, None))

    return declare


def _taking(
    method: Callable[..., Awaitable[Any]],
    show_form: ShowForm,
    to: str | Callable[[Any], str],
    done: str | Callable[[Any], str],
    reveals: Callable[[Any, Call, Any], Response] | None,
    before: Callable[[Any, Call, Any, str], Awaitable[Any]] | None = None,
) -> Handler:
    take_step = taking_by_name(method, _TAKEN)
    shape: type[Struct] = get_type_hints(method).get("body", NoFields)

    @wraps(method)
    async def take(pages: PageGroup, call: Call) -> Response:
        async def work(tx: Transaction, body: Struct, now: datetime, prepared: Any = None) -> Any:
            return await take_step(pages, tx=tx, call=call, body=body, now=now, prepared=prepared)

        root = pages.root if isinstance(pages, BothSites) else ""
        return await pages.desk.change(
            call,
            shape,
            work,
            again=lambda filled: show_form(pages, call, filled),
            to=(lambda made: _filled_in(root, call) + to(made)) if callable(to) else _filled_in(root + to, call),
            done=done,
            before=None if before is None else (lambda body, key: before(pages, call, body, key)),
            after=lambda result: None if reveals is None else reveals(pages, call, result),
        )

    return take


def _filled_in(path: str, call: Call) -> str:
    return path.format_map({name: quote(str(value), safe="") for name, value in call.request.path_params.items()})
