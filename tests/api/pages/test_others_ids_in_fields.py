"""Another customer's ids as values of form fields and query parameters of the account."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.backoffice import backoffice_of
from support.one_of_everything import SELLER, Reseller, one_of_everything
from support.orders import rows
from support.page_walk import Walk, walk
from support.pages import Person, customer_user, fields_of, text_of
from support.service import Service
from support.shop import ADDRESS

pytestmark = pytest.mark.long

FORM = "/account/new-order"
_EACH = 15
_ENDS = ("/sign-out", "/sign-ins/end-others")
_COLUMNS = """
    select table_name from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where column_name = 'customer_id' and table_schema = 'public' and table_type = 'BASE TABLE' order by 1
"""
# What a hostile client would hope that a handler reads from the form instead of the session and the address.
_HOPED = {
    "customer": ("id", "customer", "customer_id"), "user": ("user", "user_id"), "key": ("key", "key_id"),
    "webhook": ("webhook", "webhook_id"), "feed": ("feed", "feed_id"), "invoice": ("invoice", "number"),
    "address": ("address", "address_id", "shipping_address-id", "billing_address-id"),
    "pending": ("code", "confirmation_code"), "sold": ("order", "order_reference", "again"),
    "priced": ("quote", "quote_code"), "return": ("return",), "credit_note": ("credit_note",),
}  # fmt: skip


@pytest.fixture(scope="module")
def reseller(shop: Service) -> Iterator[Reseller]:
    with backoffice_of(shop, **SELLER) as office:
        yield one_of_everything(office)


@pytest.fixture(scope="module")
def account_walk(reseller: Reseller) -> Walk:
    return walk(customer_user(reseller.service, reseller.first.customer.id), each=_EACH)


@pytest.fixture
def buyer(reseller: Reseller) -> Person:
    return customer_user(reseller.service, reseller.first.customer.id, "buyer")


def belongings(service: Service, customer_id: int) -> dict[str, str | None]:
    """A digest of all rows of a customer, by table."""
    digest = "select md5(string_agg(t::text, '|' order by t::text)) from {} t where customer_id = %s"
    return {table: rows(service, digest.format(table), customer_id)[0][0] for (table,) in rows(service, _COLUMNS)}


@pytest.mark.parametrize("field", ["shipping_address-id", "billing_address-id"])
@pytest.mark.parametrize("step", ["order", "quote", "update"])
def test_an_order_takes_no_address_of_another_customer(
    reseller: Reseller, buyer: Person, field: str, step: str
) -> None:
    own = {f"shipping_address-{name}": value for name, value in ADDRESS.items()} | {"shipping_address-id": "new"}
    fields: dict[str, Any] = {
        **own, "billing_address-id": "same", "customer_reference": f"PO {field} {step}", "do": step,
        "items-0-sku": "MARK-1", "items-0-quantity": "1", field: str(reseller.other.names["address"]),
    }  # fmt: skip
    before = belongings(reseller.service, reseller.first.customer.id)
    response = buyer.send(FORM, fields)
    assert response.status_code == (200 if step == "update" else 400), text_of(response)
    assert "Other street_one" not in response.text
    assert belongings(reseller.service, reseller.first.customer.id) == before
    taken = buyer.send(FORM, {**fields, **own, "billing_address-id": "same"})
    assert taken.status_code == (200 if step == "update" else 303), text_of(taken)


@pytest.mark.parametrize("kind", ["pending", "ready", "sold", "quote", "priced"])
def test_a_new_order_copies_no_order_of_another_customer(reseller: Reseller, buyer: Person, kind: str) -> None:
    own, others = (belonging.names[kind] for belonging in (reseller.first, reseller.other))
    assert buyer.get(f"{FORM}?again={own}").status_code == 200
    assert buyer.get(f"{FORM}?again={others}").status_code == 404


@pytest.mark.parametrize("method", ["999999", "-1", "x"])
def test_an_order_is_confirmed_only_with_one_of_its_shipping_options(
    reseller: Reseller, buyer: Person, method: str
) -> None:
    for path in (f"{FORM}/{reseller.first.names['pending']}", f"/account/quote/{reseller.first.names['priced']}"):
        fields = fields_of(buyer.get(path)) | {"shipping_method": method, "once": ""}
        assert buyer.send(path, fields).status_code == 400
        assert buyer.get(path).status_code == 200


def test_a_webhook_gets_no_events_of_another_customer_again(reseller: Reseller) -> None:
    first, other = reseller.first, reseller.other
    [(low, high)] = rows(
        reseller.service, "select min(sequence), max(sequence) from event where customer_id = %s", other.customer.id
    )
    developer = customer_user(reseller.service, first.customer.id, "developer")
    path = f"/account/developer/webhook/{first.names['webhook']}/replay"
    assert developer.send(path, {"from": str(low), "to": str(high), "once": ""}).status_code == 303
    strangers = """
        select count(*) from webhook_delivery d join event e on e.id = d.event_id
        where d.webhook_id = %s and e.customer_id = %s
    """
    assert rows(reseller.service, strangers, first.names["webhook"], other.customer.id) == [(0,)]


# The last one, because it discards orders and deletes what forms delete.
def test_no_form_takes_whose_or_which_from_a_field(reseller: Reseller, account_walk: Walk) -> None:
    first, other = reseller.first, reseller.other
    before = belongings(reseller.service, other.customer.id)
    assert sum(digest is not None for digest in before.values()) >= 10
    exchanged = {str(first.names[kind]): str(other.names[kind]) for kind in first.names}
    hoped = {name: [str(other.names[kind])] for kind, names in _HOPED.items() for name in names}
    actions, done = set(), 0
    for seen in account_walk.pages_seen:
        for form in seen.markup.forms if seen.is_html else ():
            if form.method != "POST" or form.action.endswith(_ENDS) or form.action in actions:
                continue
            actions.add(form.action)
            values = {name: [exchanged.get(value, value) for value in given] for name, given in form.values.items()}
            response = account_walk.person.send(form.action, {**hoped, **values, "once": [""]})
            assert response.status_code < 500, form.action
            assert "Other street_one" not in response.text, form.action
            assert "Other company" not in response.text, form.action
            done += response.status_code == 303
    assert len(actions) > 30
    assert done > 10, "forms that do something"
    assert belongings(reseller.service, other.customer.id) == before
