"""Which scope and which roles changing a field of a customer needs."""

from tradecounter.customers.settings import SETTINGS
from tradecounter.edge.permissions import Role, roles_of

# The settings by who may change them, as the forms have them.
CONTACT = ("email_address", "first_name", "last_name", "company", "accounts_email", "order_mails")
CREDIT = ("credit_limit", "term_days")
TRADE = tuple(name for name in SETTINGS if name not in CONTACT + CREDIT)


def scope_of_field(name: str) -> str:
    """Return the scope that changing a field of a customer needs."""
    return "billing:write" if name in CREDIT else "customers:write"


def roles_of_field(name: str) -> tuple[Role, ...]:
    """Return the roles that may change a field of a customer."""
    return ("administrator",) if name in TRADE else roles_of(scope_of_field(name))
