"""The member of the staff who looks at a page."""

from tradecounter.access.permissions import Role
from tradecounter.access.queries.staff import StaffMember
from tradecounter.pages.session_gate import session_of
from tradecounter.rest.call import Call


def roles_of_caller(call: Call) -> list[Role]:
    """Return the roles of the member of the staff who has signed in."""
    session = session_of(call.request.scope)
    person = None if session is None else session.person
    return list(person.roles) if isinstance(person, StaffMember) else []


def staff_id_of(call: Call) -> int:
    """Return the id of the member of the staff who has signed in. Raises RuntimeError if nobody has."""
    session = session_of(call.request.scope)
    if session is None:
        raise RuntimeError("only staff who have signed in upload files")
    return session.person.id
