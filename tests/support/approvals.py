"""Orders that wait for an approval."""

from support.orders import create
from support.pages import Person, customer_user
from support.service import Customer, Service
from support.shop import STANDARD


def asked(service: Service, customer: Customer) -> tuple[str, Person]:
    """A pending order that waits for approval, and who has asked."""
    buyer = customer_user(service, customer.id, "buyer")
    code: str = create(customer, [("PHONE", 2)])["confirmation_code"]
    buyer.sends(f"/account/new-order/{code}/approval", {"shipping_method": str(STANDARD), "note": "Please"})
    return code, buyer
