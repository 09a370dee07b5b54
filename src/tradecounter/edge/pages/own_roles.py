"""Who may open which pages of the account. Owners may open all of them."""

from tradecounter.edge.permissions import UserRole

Roles = tuple[UserRole, ...]

OWNER: Roles = ("owner",)
BUYER: Roles = ("buyer",)
ACCOUNTS: Roles = ("accounts",)
DEVELOPERS: Roles = ("developer",)
DEVELOPER_HOME = "/account/developer"
INVOICE_FILES: Roles = ("accounts", "buyer")  # an order's page has links to its invoices
