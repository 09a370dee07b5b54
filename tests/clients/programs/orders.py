"""Places the orders that its arguments name, and prints their references."""

import json
import os
import sys

from tradecounter_client import Tradecounter
from tradecounter_client.models import (
    ConfirmOrderRequest,
    CreateOrderItem,
    CreateOrderRequest,
    OrderAddressDetails,
    ShippingChoice,
)

ADDRESS = OrderAddressDetails(
    contact_name="Ada Example", street_one="1 Test Street", city="Leeds", zip="LS1 1AA", country_code="GB"
)

placed = {}
with Tradecounter(os.environ["BASE"], os.environ["KEY"]) as shop:
    for reference in sys.argv[1:]:
        assert shop.credit().available_credit > 0
        order = CreateOrderRequest(
            customer_reference=reference,
            items=[CreateOrderItem(sku="CV-320P", quantity=1)],
            billing_address=ADDRESS,
            shipping_address=ADDRESS,
        )
        created = shop.create_order(order)
        choice = ShippingChoice(id=created.shipping_options[0].id)
        confirmed = shop.confirm_order(created.confirmation_code, ConfirmOrderRequest(shipping_method=choice))
        placed[reference] = confirmed.order_reference
sys.stdout.write(json.dumps(placed))
