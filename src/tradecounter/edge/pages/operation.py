"""Declares pages: who may open them, and what they need."""

from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import signature
from typing import Any, TypedDict, Unpack

import msgspec
from starlette.responses import Response

from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.people import CustomerUser, Person, StaffMember
from tradecounter.edge.permissions import Role, UserRole, allows, roles_of
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.operation import Method, Operation, Parameter, Success, endpoint
from tradecounter.edge.session import session_of

PageMethod = Callable[..., Coroutine[Any, Any, Response]]
TITLE = "tradecounter.title"  # the key in the ASGI scope: what the page or the form is called


class PageOperation(Operation, frozen=True, kw_only=True):
    """A page, or a form that is sent to one. The interface documents do not list it.

    A page of the back office has a `scope` or `roles`, as an operation of the API has; one of the account has
    `user_roles`. A page with none of them is open to everybody who has signed in.
    """

    user_roles: tuple[UserRole, ...] = ()
    dangerous: bool = False  # asks for the password again when that was long ago
    signed_out: bool = False  # open to people who have not signed in


class Rights(TypedDict, total=False):
    """Who may open a page or take a step; see `PageOperation`."""

    scope: str
    roles: tuple[str, ...]
    user_roles: tuple[UserRole, ...]


class Access(Rights, total=False):
    """What guards a page or a step besides, and the parameters of its path."""

    dangerous: bool
    signed_out: bool
    path_parameters: tuple[Parameter, ...]


Roles = tuple[UserRole, ...]

OWNER: Roles = ("owner",)
BUYER: Roles = ("buyer",)
APPROVER: Roles = ("approver",)
ACCOUNTS: Roles = ("accounts",)
DEVELOPERS: Roles = ("developer",)
INVOICE_FILES: Roles = ("accounts", "buyer")  # an order's page has links to its invoices


def page(
    path: str, title: str, *, query: type[msgspec.Struct] | None = None, **access: Unpack[Access]
) -> Callable[[PageMethod], PageMethod]:
    """Mark a method that shows a page, which may take `filled`: the form after an error, at first an empty one.

    An action or a form that calls it then shows the page again, under the page's title.
    """

    def mark(method: PageMethod) -> PageMethod:
        takes_form = "filled" in signature(method).parameters

        @wraps(method)
        async def show_page(pages: object, call: Call, filled: Filled | None = None) -> Response:
            call.request.scope[TITLE] = title
            if takes_form:
                return await method(pages, call, Filled() if filled is None else filled)
            return await method(pages, call)

        return _marked("GET", path, title, query, access)(show_page)

    return mark


def form(path: str, title: str, **access: Unpack[Access]) -> Callable[[PageMethod], PageMethod]:
    """Mark a method that takes a form (`POST`). The title is also that of the page if it is shown again."""

    def mark(method: PageMethod) -> PageMethod:
        @wraps(method)
        async def take(pages: object, call: Call) -> Response:
            call.request.scope[TITLE] = title
            return await method(pages, call)

        return _marked("POST", path, title, None, access)(take)

    return mark


def _marked(
    method: str, path: str, title: str, query: type[msgspec.Struct] | None, access: Access
) -> Callable[[Method], Method]:
    name = f"{method} {path}"
    success = Success(200, title)
    return endpoint(
        PageOperation(
            method=method, path=path, name=name, tag="Pages", summary=title, query=query, success=success, **access
        )
    )


def may_open(person: Person, operation: Operation) -> bool:
    """Return whether a person may open a page or send its form."""
    if isinstance(person, StaffMember):
        return allows(person.roles, operation.scope, operation.roles)
    user_roles = operation.user_roles if isinstance(operation, PageOperation) else ()
    return not user_roles or person.has_role(*user_roles)


def needed(operation: Operation) -> str:
    """Return what a person lacks to open a page."""
    user_roles = operation.user_roles if isinstance(operation, PageOperation) else ()
    roles = ("owner", *user_roles) if user_roles else operation.roles or roles_of(operation.scope)
    return f"this needs the role {' or '.join(dict.fromkeys(roles))}"


def roles_of_caller(call: Call) -> list[Role]:
    """Return the roles of the staff member who has signed in."""
    session = session_of(call.request.scope)
    person = None if session is None else session.person
    return list(person.roles) if isinstance(person, StaffMember) else []


def staff_id_of(call: Call) -> int:
    """Return the id of the staff member who has signed in. Raises RuntimeError if nobody has."""
    session = session_of(call.request.scope)
    if session is None:
        raise RuntimeError("the gate admits only staff who have signed in here")
    return session.person.id


def user_of(call: Call) -> CustomerUser:
    """Return the customer's user who has signed in. Raises RuntimeError if nobody has."""
    session = session_of(call.request.scope)
    if session is None or not isinstance(session.person, CustomerUser):
        raise RuntimeError("the gate admits only customers' users who have signed in here")
    return session.person
