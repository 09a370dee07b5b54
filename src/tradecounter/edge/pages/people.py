"""Who looks at a page: the member of the staff, and the roles of the pages of the account."""

from tradecounter.edge.people import CustomerUser, StaffMember
from tradecounter.edge.permissions import Role, UserRole
from tradecounter.edge.rest.call import Call
from tradecounter.edge.session import session_of


def roles_of_caller(call: Call) -> list[Role]:
    """Return the roles of the member of the staff who has signed in."""
    session = session_of(call.request.scope)
    person = None if session is None else session.person
    return list(person.roles) if isinstance(person, StaffMember) else []


def staff_id_of(call: Call) -> int:
    """Return the id of the member of the staff who has signed in. Raises RuntimeError if nobody has."""
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


Roles = tuple[UserRole, ...]

OWNER: Roles = ("owner",)
BUYER: Roles = ("buyer",)
APPROVER: Roles = ("approver",)
ACCOUNTS: Roles = ("accounts",)
DEVELOPERS: Roles = ("developer",)
DEVELOPER_HOME = "/account/developer"
INVOICE_FILES: Roles = ("accounts", "buyer")  # an order's page has links to its invoices
