"""The steps of every page: read and render; or parse a form, change something, and go to the next page."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from functools import partial
from typing import Any, Protocol, TypeVar

import jinja2
from msgspec import Struct
from psycopg.errors import LockNotAvailable
from starlette.responses import Response

from tradecounter.db.idempotency import KeyedRequest, RecordedResponse, once
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import parse_form, renumbered
from tradecounter.edge.page_kit.submitted_forms import Submitted, read_submitted
from tradecounter.edge.pages.menu import Navigation
from tradecounter.edge.pages.page_site import PageSite
from tradecounter.edge.pages.page_view import CONTENT_POLICY, PageView, prefix_of, see_other, set_flash
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.kit.clock import Clock
from tradecounter.kit.digest import seen_of
from tradecounter.kit.errors import Code, DomainError, Kind

Shape = TypeVar("Shape", bound=Struct)
Result = TypeVar("Result")
ShowAgain = Callable[[Filled], Awaitable[Response]]
Before = Callable[[Any, str], Awaitable[Any]]
ShowResult = Callable[[Filled, Result | None], Awaitable[Response]]

ONCE = "once"  # the field with the key of a form
PREVIEW = "preview"  # the field of a form that only shows what it would do
SEEN = "seen"  # the field with the digest of what a form has shown that it would do
_UNDER_WAY = "the same form is still being worked on: see what came of it before you send it again"
_OK = 200
_SEE_OTHER = 303


class Outcome(Struct, frozen=True):
    """The outcome of one of several changes of a form: what was done, or why nothing was."""

    name: str
    message: str
    done: bool


class PageDesk(Struct, frozen=True):
    """The database, the clock and the templates of a site with pages."""

    site: PageSite
    database: Database
    clock: Clock
    templates: jinja2.Environment
    navigation: Navigation

    def reading(self) -> AbstractAsyncContextManager[Transaction]:
        """Run a block of reads."""
        return reading(self.database)

    def view(self, call: Call) -> PageView:
        """Return the variable `page` of templates."""
        return PageView(self.site, self.navigation, call.request, prefix_of(call.base_url))

    def show(self, call: Call, template: str, *, status: int = 200, **values: Any) -> Response:
        """Respond with a page. If the values have a `form`, its status is the page's."""
        form = values.get("form")
        if isinstance(form, Filled):
            status = form.status
        return render(self.view(call), self.templates, template, status, values)

    async def change(
        self,
        call: Call,
        shape: type[Shape],
        work: Callable[[Transaction, Shape, datetime], Awaitable[Any]],
        *,
        again: ShowAgain,
        to: str | Callable[[Any], str],
        done: str | Callable[[Any], str] = "",
        submitted: Submitted | None = None,
        before: Before | None = None,
        after: Callable[[Any], Response | None] = lambda _result: None,
    ) -> Response:
        """Parse a form, run a change in its own transaction, and send the browser to the page `to`.

        That page shows the message `done`. `to` and `done` may be functions of what `work` returns. After a
        DomainError, `again` shows the form with its values and errors. A form that is sent twice changes something
        once.

        `before` runs before the transaction begins, for example to call another service. It gets the form's struct and
        the form's key. It runs again if the form is sent again. `work` gets what it returns as `prepared`.

        `after` runs after the commit with what `work` returns, not if the form is sent again. Its response replaces the
        page `to`.
        """
        if submitted is None:
            submitted = await read_submitted(call)
        try:
            changed = await self._changed(call, submitted, shape, work, to, done, before)
        except DomainError as error:
            if error.kind is Kind.UNAVAILABLE:
                raise
            return await again(Filled.of(submitted, _for_people(error), STATUS[error.kind]))
        finally:
            submitted.close()
        if isinstance(changed, RecordedResponse):
            changed = _Changed.read(changed)
        elif (response := after(changed.result)) is not None:
            return response
        return self.go(call, changed.path, changed.message)

    async def preview(
        self,
        call: Call,
        shape: type[Shape],
        work: Callable[[Transaction, Shape, datetime], Awaitable[Result]],
        submitted: Submitted,
    ) -> tuple[Result | None, Filled]:
        """Parse a form, run a change and undo it.

        Returns what `work` returns, or None after a DomainError; and the form with its values and errors. It may run
        while somebody types, so it shows every error in the form, even that the database is busy.
        """
        try:
            body = parse_form(submitted, shape)
            async with transaction(self.database, call.actor) as tx:
                result = await _renumbering(work(tx, body, self.clock.now()), submitted, shape)
                tx.set_rollback()
        except LockNotAvailable:
            busy = DomainError(Kind.CONFLICT, "someone else is changing this: no preview at the moment")
            return None, Filled.of(submitted, busy, STATUS[busy.kind])
        except DomainError as error:
            return None, Filled.of(submitted, error, STATUS[error.kind])
        return result, Filled(submitted.values)

    async def change_each(
        self,
        call: Call,
        submitted: Submitted,
        names: Sequence[str],
        work: Callable[[Transaction, int, datetime], Awaitable[str]],
    ) -> list[Outcome]:
        """Run a change for each of several things, in its own transaction, and return the outcomes.

        `work` gets the place of a name and returns what it has done, in words. An error stops only its own change. A
        form that is sent twice changes each thing once.
        """
        outcomes = []
        for place, name in enumerate(names):
            try:
                text = await self._change_one(call, submitted, place, name, work)
                outcomes.append(Outcome(name, text, done=True))
            except LockNotAvailable:
                outcomes.append(Outcome(name, "someone else is changing it: try again", done=False))
            except DomainError as error:
                outcomes.append(Outcome(name, _for_people(error).message, done=False))
        return outcomes

    async def _change_one(
        self,
        call: Call,
        submitted: Submitted,
        place: int,
        name: str,
        work: Callable[[Transaction, int, datetime], Awaitable[str]],
    ) -> str:
        """Run one of the changes of `change_each`, and return what it has done, now or when it was sent before."""
        request, now = await _keyed(call, submitted, f"{place} {name}"), self.clock.now()

        async def change(tx: Transaction) -> str:
            return await work(tx, place, now)

        done = await once(
            self.database, call.actor, request, now, change, lambda text: RecordedResponse(_OK, text.encode())
        )
        return done.body.decode() if isinstance(done, RecordedResponse) else done

    async def change_as_seen(
        self,
        call: Call,
        shape: type[Shape],
        work: Callable[[Transaction, Shape, datetime], Awaitable[Result]],
        *,
        again: ShowResult[Result],
        facts: Callable[[Result], Any],
        asked: Callable[[Shape, Result], None] = lambda _body, _result: None,
        to: str | Callable[[Any], str],
        done: str | Callable[[Any], str],
        unfinished: type[Shape] | None = None,
    ) -> Response:
        """Do as `change` does, but keep a result only if the form has shown it before; else undo and show it.

        `facts(result)` returns what must have been shown, or None for nothing. `again(filled, result)` shows the form
        with the undone result, if there is one. The form then has `seen_of` of the result's facts in the field SEEN.
        `asked(body, result)` raises DomainError on a question of the result that the form leaves open. `unfinished` is
        the form's shape while it is filled in: a form with errors shows its result, too, as far as it has one.
        """
        submitted = await read_submitted(call)
        if submitted.one(PREVIEW):
            result, filled = await self.preview(call, unfinished or shape, work, submitted)
            return await again(filled, result)

        async def only_seen(tx: Transaction, body: Shape, now: datetime) -> Result:
            result = await work(tx, body, now)
            shown_before = facts(result)
            if shown_before is not None and submitted.one(SEEN) != seen_of(shown_before):
                raise _UndoneError(result, Filled(submitted.values))
            try:
                asked(body, result)
            except DomainError as error:
                error = renumbered(error, submitted, shape)
                raise _UndoneError(result, Filled.of(submitted, error, STATUS[error.kind])) from error
            return result

        async def shown(filled: Filled) -> Response:
            result = None
            if unfinished is not None:
                result, _ = await self.preview(call, unfinished, work, submitted)
            return await again(filled, result)

        try:
            return await self.change(call, shape, only_seen, again=shown, to=to, done=done, submitted=submitted)
        except _UndoneError as undone:
            return await again(undone.filled, undone.result)

    def go(self, call: Call, path: str, message: str = "", *, warns: bool = False) -> Response:
        """Send the browser to a page, which shows a message, possibly a warning."""
        response = see_other(call.request, prefix_of(call.base_url) + path)
        if message:
            set_flash(response, self.site, message, warns=warns)
        return response

    async def _changed(
        self,
        call: Call,
        submitted: Submitted,
        shape: type[Shape],
        work: Callable[..., Awaitable[Any]],
        to: str | Callable[[Any], str],
        done: str | Callable[[Any], str],
        before: Before | None,
    ) -> "_Changed | RecordedResponse":
        body = parse_form(submitted, shape)
        request = await _keyed(call, submitted)
        if before is not None:
            work = partial(work, prepared=await before(body, "" if request is None else request.key))
        now = self.clock.now()

        async def change(tx: Transaction) -> _Changed:
            result = await _renumbering(work(tx, body, now), submitted, shape)
            path, message = (made(result) if callable(made) else made for made in (to, done))
            return _Changed(path, message, result)

        return await once(self.database, call.actor, request, now, change, _Changed.to_record)


class PageGroup(Protocol):
    """An object whose methods are pages."""

    @property
    def desk(self) -> PageDesk:
        """The desk of its site."""


class _Changed(Struct, frozen=True):
    """The page that a change leads to and its message, which are stored; and the result of the change, which is not."""

    path: str
    message: str
    result: Any = None

    @classmethod
    def read(cls, recorded: RecordedResponse) -> "_Changed":
        """Return what `to_record` has stored."""
        path, _, message = recorded.body.decode().partition("\n")
        return cls(path, message)

    def to_record(self) -> RecordedResponse:
        """Return what is stored for a form that is sent again: a line with the path, then the message."""
        return RecordedResponse(_SEE_OTHER, f"{self.path}\n{self.message}".encode())


class _UndoneError(Exception):
    """A form would do something that it has not shown, or leaves a question of its result open."""

    def __init__(self, result: Any, filled: Filled) -> None:
        super().__init__()
        self.result = result
        self.filled = filled


def _for_people(error: DomainError) -> DomainError:
    """Return an error without the name that programs have for a form's key."""
    return DomainError(error.kind, _UNDER_WAY) if error.code is Code.IN_PROGRESS else error


async def _renumbering(work: Awaitable[Result], submitted: Submitted, shape: type[Struct]) -> Result:
    """Wait for a change, and give its errors the form's numbers of rows."""
    try:
        return await work
    except DomainError as error:
        raise renumbered(error, submitted, shape) from error


def render(view: PageView, templates: jinja2.Environment, template: str, status: int, values: Any) -> Response:
    """Return a page as a response."""
    html = templates.get_template("site.html").render(page=view, template=template, **values)
    # Not `no-referrer`: with it, browsers send `Origin: null` with the page's own forms.
    headers = {"Content-Security-Policy": CONTENT_POLICY, "Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
    response = Response(html, status, headers, "text/html")
    view.forget_flash(response)
    return response


async def _keyed(call: Call, submitted: Submitted, part: str = "") -> KeyedRequest | None:
    """Return the form's key with its content, so that a form that was changed after it was sent counts as another one.

    A form that changes several things has a key for each `part`.
    """
    key = submitted.one(ONCE)
    if not key:
        return None
    fields = sorted((name, list(values)) for name, values in submitted.values.items())
    files = await asyncio.to_thread(submitted.digests) if submitted.files else []
    digest = hashlib.sha256(repr((call.target, fields, files, part)).encode())
    return KeyedRequest(f"{call.actor.kind}/{call.actor.id}", f"form {digest.hexdigest()}", digest.digest())
