import os
import sys

from shop_client import ApiClient, ApiException, Configuration
from shop_client.api import AccountApi, CatalogueApi, OrdersApi
from shop_client.models import (
    ConfirmOrderRequest,
    CreateOrderItem,
    CreateOrderRequest,
    OrderAddressDetails,
    ShippingChoice,
)

client = ApiClient(Configuration(host=os.environ["BASE"], api_key={"apiKey": os.environ["KEY"]}))
account, catalogue, orders = AccountApi(client), CatalogueApi(client), OrdersApi(client)

product = catalogue.get_product("CV-320P")
saved = OrderAddressDetails(id=account.list_addresses()[0].id)
site = OrderAddressDetails(
    contact_name="Sam Fitter", street_one="1 Site Road", city="Leeds", zip="LS1 4AP", country_code="GB"
)
items = [CreateOrderItem(sku=product.sku, quantity=6)]

wanted = CreateOrderRequest(customer_reference="PO-python", items=items, billing_address=saved, shipping_address=site)
created = orders.create_order(wanted, idempotency_key="python")
choice = ConfirmOrderRequest(shipping_method=ShippingChoice(id=created.shipping_options[0].id))
confirmed = orders.confirm_order(created.confirmation_code, choice)
read = orders.get_order(confirmed.order_reference)
listed = orders.list_orders(customer_reference="PO-python")

at_once = CreateOrderRequest(
    customer_reference="PO-python-at-once",
    items=items,
    billing_address=saved,
    shipping_address=saved,
    shipping_method=choice.shipping_method,
    auto_confirm=True,
)
second = orders.create_order(at_once)

try:
    orders.get_order("NOTHING")
except ApiException as error:
    unknown = error.status

sys.stdout.write(f"sku {product.sku}\nnet {read.cost_net}\nfirst {read.order_reference}\n")
sys.stdout.write(f"second {second.order_reference}\nlisted {listed[0].order_reference}\nunknown {unknown}\n")
