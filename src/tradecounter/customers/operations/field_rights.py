"""Which scope and which roles changing a field of a customer needs."""

from tradecounter.edge.permissions import Role, roles_of

# What a field of a customer needs where that is not `customers:write` of an administrator.
_CONTACT = ("email_address", "first_name", "last_name", "company", "accounts_email", "order_mails")
_TERMS = ("credit_limit", "term_days")


def scope_of_field(name: str) -> str:
    """Return the scope that changing a field of a customer needs."""
    return "billing:write" if name in _TERMS else "customers:write"


def roles_of_field(name: str) -> tuple[Role, ...]:
    """Return the roles that may change a field of a customer."""
    if name in _CONTACT or name in _TERMS:
        return roles_of(scope_of_field(name))
    return ("administrator",)
