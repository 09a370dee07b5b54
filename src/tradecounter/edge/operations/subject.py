"""Declares the operations of a subject by the methods that carry them out.

A method's name is the operation's; its docstring is the summary and the description; its annotations are the path's
parameters, the query, the body and the response. See `Subject`.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from itertools import islice
from operator import attrgetter
from types import GenericAlias
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar, Unpack, get_args, get_origin
from urllib.parse import quote

from msgspec import Struct, field
from msgspec.structs import fields
from starlette.responses import Response

from tradecounter.db.fair_shares import act_for
from tradecounter.db.transaction import Transaction
from tradecounter.edge.named_arguments import reading_by_name, taking_by_name
from tradecounter.edge.operations.desk import (
    CHANGE_HEADERS,
    CREATED,
    LOCATION,
    NEXT,
    Address,
    Desk,
    DryRun,
    Nothing,
    page_response,
)
from tradecounter.edge.operations.signature import Method, Signature
from tradecounter.edge.permissions import KeyScope
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import CONFLICT, NOT_FOUND
from tradecounter.edge.rest.headers import CONTENT_DISPOSITION, IDEMPOTENCY_KEY, IDEMPOTENT_REPLAY
from tradecounter.edge.rest.operation import (
    Body,
    ErrorResponse,
    Header,
    Link,
    Media,
    Operation,
    Sample,
    Success,
    endpoint,
)
from tradecounter.edge.rest.responses import json_response

Item = TypeVar("Item")
Handler = Callable[[Any, Call], Awaitable[Response]]
Check = Callable[..., Awaitable[None]]

_OK = 200
_NO_CONTENT = 204
FILE = Media({"type": "string", "format": "binary"})
NO_FILES: Mapping[str, Media] = {}
_NO_EXAMPLES: Mapping[str, Any] = {}

# What the methods and the checks of operations may take.
_OF_REQUEST = ("call", "query")
_OF_CHANGE = (*_OF_REQUEST, "tx", "now", "body")
_OF_CHECK = ("group", "tx", "raw", "now")


class Options(TypedDict, total=False):
    """What an operation says of itself where it differs from its subject; see `Operation`."""

    description: str
    errors: tuple[ErrorResponse, ...]
    links: tuple[Link, ...]
    referenced: tuple[type, ...]
    sample: Sample
    scope: str
    other_scopes: tuple[str, ...]
    roles: tuple[str, ...]
    cacheable: bool
    key_scopes: tuple[KeyScope, ...]


class Described(NamedTuple):
    """How the interface document shows a type: the sentence of a response, and an example with its name.

    `others` are further examples by their names.
    """

    sentence: str
    example: Any
    name: str = ""
    others: Mapping[str, Any] = _NO_EXAMPLES

    def examples(self, shape: Any) -> Mapping[str, Any]:
        """Return the examples of a type; without a name, the first has the type's."""
        return {self.name or shape.__name__: self.example, **self.others}


class ListPage(Struct, Generic[Item], frozen=True):
    """A page of a list.

    `found` has one record more than the query's `limit` when there is a next page. `shown` yields the records as
    presented; the response takes the first `limit`. `cursor` returns what `after` is in the link to the page after a
    record.
    """

    found: Sequence[Any]
    shown: Iterable[Item]
    cursor: Callable[[Any], Any] = attrgetter("id")


class Subject(Struct, frozen=True, kw_only=True):
    """What the operations of a subject share, and the decorators that declare them.

    A method takes what it needs, by these names: `tx`, a transaction; `now`; `call`; `query`, the query's parameters;
    `body`. Its other parameters have `InPath`. It returns the body of the response. Its class needs a `desk` unless all
    its methods are reads that take neither `tx` nor `now`. `responds` is the response's sentence, or its example too,
    where it is not the type's.

    Attributes:
        read: the scope of reads.
        write: the scope of changes.
        roles: the staff's roles that may change something; by default, those of the scope.
        keys: at the customers' API, instead of the scopes: a key needs one of these. Changes there have no acting user,
            and an idempotency key only if they are `keyed`.
        public: whether the operations need no credential.
        described: the types of bodies and responses.
    """

    tag: str
    read: str = ""
    write: str = ""
    roles: tuple[str, ...] = ()
    keys: tuple[KeyScope, ...] = ()
    public: bool = False
    described: Mapping[type, Described] = field(default_factory=dict)

    def shows(
        self,
        path: str,
        responds: str | Described = "",
        *,
        headers: tuple[Header, ...] = (),
        files: Mapping[str, Media] = NO_FILES,
        **options: Unpack[Options],
    ) -> Callable[[Method], Handler]:
        """Declare a read. Its method returns the body; or the response, if that has `headers` or is one of `files`.

        `files` are by media type. A method that does either says so: `-> ServiceIndex | Response`.
        """

        def declare(method: Method) -> Handler:
            signature = Signature.of(method)
            show = reading_by_name(method, {*signature.path, *_OF_REQUEST})
            sent = (*headers, CONTENT_DISPOSITION) if files else headers
            success = self._success(_OK, signature.returns, responds, sent, files)

            @wraps(method)
            async def handle(group: Any, call: Call) -> Response:
                result = await show(group, **signature.read(call))
                return result if isinstance(result, Response) else json_response(result)

            operation = self._operation("GET", path, signature, success, options)
            return endpoint(operation)(handle)

        return declare

    def lists(self, path: str, responds: str, **options: Unpack[Options]) -> Callable[[Method], Handler]:
        """Declare a list by pages. Its method returns `ListPage`."""

        def declare(method: Method) -> Handler:
            signature = Signature.of(method)
            find = reading_by_name(method, {*signature.path, *_OF_REQUEST})
            [item] = get_args(signature.returns)
            success = self._success(_OK, GenericAlias(list, item), responds, (NEXT,))

            @wraps(method)
            async def handle(group: Any, call: Call) -> Response:
                given = signature.read(call)
                limit = given["query"].limit
                listed = await find(group, **given)
                return page_response(call, listed.found, limit, listed.cursor, islice(listed.shown, limit))

            operation = self._operation("GET", path, signature, success, options)
            return endpoint(operation)(handle)

        return declare

    def changes(
        self,
        verb: str,
        path: str,
        responds: str | Described = "",
        *,
        location: Address = "",
        created: bool = False,
        shown_once: str = "",
        dry_run: bool = False,
        keyed: bool = False,
        share: int | None = None,
        check: Check | None = None,
        **options: Unpack[Options],
    ) -> Callable[[Method], Handler]:
        """Declare a change. A `POST` makes it once per idempotency key.

        With a `location`, or `created` without one, it responds with 201, or 200 if the method returns `Unchanged`.
        A location that does not begin with a slash continues the request's path. With `dry_run`, the query may ask that
        nothing changes. The transaction counts towards a `share`, as `act_for` says. `location`, `shown_once` and
        `check` are those of `Desk.change`; `check` takes what it needs of `group`, the object of the class, `tx`, `raw`
        and `now`. A method that returns None responds with 204. Raises TypeError for what it then cannot have.
        """
        is_keyed = verb == "POST" and (keyed or not self.keys)
        status = CREATED if location or created else _OK
        check_change = None if check is None else taking_by_name(check, _OF_CHECK, positional=0)

        def declare(method: Method) -> Handler:
            signature = Signature.of(method)
            _require_possible(signature, is_keyed, location, shown_once, check, dry_run=dry_run)
            make_change = taking_by_name(method, {*signature.path, *_OF_CHANGE})

            @wraps(method)
            async def handle(group: Any, call: Call) -> Response:
                desk: Desk = group.desk
                arguments = signature.read(call)
                if share is not None:
                    act_for(share)

                async def work(tx: Transaction, body: Any, now: datetime) -> Any:
                    return await make_change(group, **arguments, tx=tx, body=body, now=now)

                if signature.returns is None:
                    return await desk.delete(call, lambda tx, now: work(tx, None, now))
                return await desk.change(
                    call,
                    signature.body or Nothing,
                    work,
                    status=status,
                    location=_continued(location, path, call, signature),
                    shown_once=shown_once,
                    dry_run=dry_run and call.query(DryRun).dry_run,
                    keyed=is_keyed,
                    check=check_change and (lambda tx, raw, now: check_change(group=group, tx=tx, raw=raw, now=now)),
                )

            replayed = (IDEMPOTENT_REPLAY,) if is_keyed else ()
            headers = (LOCATION, *replayed) if location else replayed
            success = self._success(status, signature.returns, responds, headers)
            repeated = self._success(_OK, signature.returns, "", replayed)
            own = {
                "scope": self.write,
                "roles": self.roles,
                "query": DryRun if dry_run else signature.query,
                "request_headers": ((IDEMPOTENCY_KEY,) if is_keyed else ()) + (() if self.keys else CHANGE_HEADERS),
                "body": self._body(signature.body, may_be_absent=verb == "POST"),
                "dry_run": _of_dry_run(repeated) if dry_run and status == CREATED else None,
                "unchanged": repeated if signature.may_be_unchanged else None,
            }
            errors = ((CONFLICT,) if is_keyed and not self.keys else ()) + options.get("errors", ())
            operation = self._operation(verb, path, signature, success, {**own, **options, "errors": errors})
            return endpoint(operation)(handle)

        return declare

    def _operation(
        self, verb: str, path: str, signature: Signature, success: Success, options: Mapping[str, Any]
    ) -> Operation:
        """Return an operation; `options` are fields that it has instead of the subject's and the signature's."""
        not_found = (NOT_FOUND,) if signature.path else ()
        by_default = {
            "description": signature.description,
            "scope": self.read,
            "key_scopes": self.keys,
            "query": signature.query,
        }
        return Operation(
            method=verb,
            path=path,
            name=signature.name,
            tag=self.tag,
            summary=signature.summary,
            path_parameters=tuple(place.parameter for place in signature.path.values()),
            success=success,
            public=self.public,
            **{**by_default, **options, "errors": not_found + options.get("errors", ())},
        )

    def _success(
        self,
        status: int,
        returns: Any,
        responds: str | Described,
        headers: tuple[Header, ...] = (),
        files: Mapping[str, Media] = NO_FILES,
    ) -> Success:
        if returns is None:
            return Success(_NO_CONTENT, str(responds))
        if returns is Response:
            return Success(status, str(responds), media_types=files, headers=headers)
        if isinstance(responds, Described):
            described = responds
        elif get_origin(returns) is list:
            [item] = get_args(returns)
            described = Described("", [self.described[item].example], "List")
        else:
            described = self.described[returns]
        sentence = responds if isinstance(responds, str) and responds else described.sentence
        return Success(status, sentence, returns, described.examples(returns), files, headers)

    def _body(self, shape: Any, *, may_be_absent: bool) -> Body | None:
        if shape is None:
            return None
        described = self.described[shape]
        required = not may_be_absent or any(each.required for each in fields(shape))
        return Body(shape, described.examples(shape), required=required)


def _require_possible(signature: Signature, *needs_a_body: Any, dry_run: bool) -> None:
    if signature.returns is None and (dry_run or any(needs_a_body)):
        raise TypeError(f"{signature.name}: a change without a response body has no key, dry run, location or check")
    if dry_run and signature.query is not None:
        raise TypeError(f"{signature.name}: the query of a change with a dry run is DryRun")


def _of_dry_run(success: Success) -> Success:
    sentence = success.description.removesuffix(".")
    return Success(success.status, f"{sentence} of a dry run.", success.body, success.examples)


def _continued(location: Address, path: str, call: Call, signature: Signature) -> Address:
    """Return the address of what is new, where it continues the request's path."""
    if not location or not isinstance(location, str) or location.startswith("/"):
        return location
    values = {place.name: quote(str(place.read(call)), safe="") for place in signature.path.values()}
    here = path.format(**values)
    return lambda made: f"{here}/{location.format_map(made)}"
