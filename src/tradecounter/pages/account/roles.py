"""Who may open which pages of the account. Owners may open all of them."""

from tradecounter.access.permissions import UserRole

Roles = tuple[UserRole, ...]

OWNER: Roles = ("owner",)
BUYER: Roles = ("buyer",)
ACCOUNTS: Roles = ("accounts",)
INVOICE_FILES: Roles = ("accounts", "buyer")  # an order's page has links to its invoices
