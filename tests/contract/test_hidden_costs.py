"""What the reseller pays for its products, and its own ids, are in no response of the customers' API."""

import json
from functools import partial

from support.billing import credit, issue
from support.events import number_events
from support.interface import interface_document
from support.orders import buy, create, dispatch, sell
from support.quotes import price_as_support, request_quote
from support.service import Service
from tradecounter.customers.operations.changes import change_customer
from tradecounter.customers.settings import CustomerChange
from tradecounter.orders.history import set_external_id

COST = "71.93"
OWN_ID = "HIDDEN-ID"
EXTRA = "extra=description,description_html,short_description,related,similar"
ACCEPTED = ("application/json", "text/csv", "application/pdf")
UNREAD = {"getIndex", "getOpenapiJson", "getOpenapiYaml"}  # without data of the catalogue; the document is tested below


def test_the_interface_document_does_not_know_purchase_costs_and_external_ids() -> None:
    document = json.dumps(interface_document()).lower()
    assert "purchase" not in document
    assert "external_id" not in document


def test_no_response_has_a_purchase_cost_or_an_external_id(shop: Service) -> None:
    sku = sell(shop, "BOUGHT", 100, available=50, purchase_cost=COST, configurable=True, external_id=OWN_ID)
    sell(shop, "KIT", 200, purchase_cost="9071.93", components=[{"sku": sku, "quantity": 1}])
    customer = shop.customer()
    bodies = [json.dumps(create(customer, [(sku, 1), ("KIT", 1)]))]
    own = CustomerChange(external_id=OWN_ID)
    shop.in_transaction(lambda tx: change_customer(tx, customer.id, own, shop.clock.now()))
    placed, quote = buy(customer, [(sku, 2)]), request_quote(customer, [(sku, 1)])
    bodies += [json.dumps(placed), json.dumps(quote)]
    price_as_support(shop, quote, (sku, "80"))
    below = request_quote(customer, [(sku, 1)])
    price_as_support(shop, below, (sku, "60"))
    for number, each in enumerate((placed["order_reference"], quote["confirmation_code"])):
        own_id = f"{OWN_ID}-{number}"
        shop.in_transaction(partial(set_external_id, reference=each, external_id=own_id, now=shop.clock.now()))
    dispatch(shop, placed)
    invoice = issue(shop, placed).number
    note = credit(shop, invoice, amount="1.00").number
    number_events(shop)
    values = {"reference": placed["order_id"], "sku": sku, "confirmation_code": quote["confirmation_code"]}
    numbers = {"/invoice/{number}": invoice, "/credit-note/{number}": note}
    unread = set()
    for path, operations in interface_document()["paths"].items():
        if "get" not in operations or operations["get"]["operationId"] in UNREAD:
            continue
        address = path.format_map({**values, "number": numbers.get(path)}) + (f"?{EXTRA}" if "product" in path else "")
        found = [customer.get(address, headers={"Accept": accepted}) for accepted in ACCEPTED]
        bodies += [response.text for response in found]
        unread |= {path} if not any(response.status_code == 200 for response in found) else set()
    assert unread == {"/order/{reference}/video"}
    assert sku in "".join(bodies)
    assert [body for body in bodies if COST in body or "purchase" in body.lower() or OWN_ID in body] == []
    assert "margin" not in "".join(bodies)
