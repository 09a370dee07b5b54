"""Baskets that two users or two windows change at the same time."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from support.orders import rows
from support.pages import customer_user, fields_of, text_of
from support.service import Service
from support.shop import ADDRESS, STANDARD
from support.waiting import waiting_for_a_lock

FORM = "/account/new-order"


def test_an_order_that_two_users_confirm_leaves_the_basket_once(shop: Service) -> None:
    customer = shop.customer()
    maker, colleague = customer_user(shop, customer.id), customer_user(shop, customer.id)
    maker.sends("/account/basket/add", {"sku": "PHONE", "quantity": "2"})
    address = {f"shipping_address-{name}": value for name, value in ADDRESS.items()}
    typed = {"customer_reference": "PO-TWICE", "shipping_address-id": "new", "billing_address-id": "same", **address}
    review = maker.send(FORM, {**fields_of(maker.get(FORM)), **typed, "do": "order"}).headers["Location"]
    maker.sends("/account/basket/add", {"sku": "PHONE", "quantity": "5"})
    with ThreadPoolExecutor(2) as threads, psycopg.connect(shop.database_url) as holder:
        holder.execute("select from orders where customer_id = %s for update", [customer.id])
        sent = [
            threads.submit(person.send, review, {"shipping_method": str(STANDARD)}) for person in (maker, colleague)
        ]
        waiting_for_a_lock(shop.database_url, processes=2)
        holder.commit()
        assert [response.result(timeout=30).status_code for response in sent] == [303, 303]
    assert rows(shop, "select quantity from basket_line where user_id = %s", maker.id) == [(5,)]


@pytest.mark.parametrize("step", ["update", "order", "quote", "preview"])
def test_what_another_window_adds_while_a_form_is_saved_stays_in_the_basket(shop: Service, step: str) -> None:
    buyer = customer_user(shop, shop.customer().id)
    buyer.sends("/account/basket/add", {"sku": "PHONE", "quantity": "2"})
    address = {f"shipping_address-{name}": value for name, value in ADDRESS.items()}
    typed = {"customer_reference": "PO-1", "shipping_address-id": "new", "billing_address-id": "same", **address}
    form = {**fields_of(buyer.get(FORM)), **typed, **({"preview": "live"} if step == "preview" else {"do": step})}
    with ThreadPoolExecutor(1) as threads, psycopg.connect(shop.database_url) as window:
        window.execute("select from customer_user where id = %s for no key update", [buyer.id])
        sent = threads.submit(buyer.send, FORM, form)
        waiting_for_a_lock(shop.database_url)
        window.execute(
            "insert into basket_line (user_id, product_id, quantity) select %s, id, 7 from product where sku = 'CABLE'",
            [buyer.id],
        )
        window.commit()
        saved = sent.result(timeout=30)
    assert saved.status_code in {200, 303}
    kept = rows(shop, "select quantity from basket_line where user_id = %s order by position", buyer.id)
    assert kept == ([(7,)] if step == "quote" else [(2,), (7,)])
    if step in {"update", "preview"}:
        assert "CABLE" in buyer.send(FORM, {**fields_of(saved), **typed, "do": "update"}).text
        assert len(rows(shop, "select from basket_line where user_id = %s", buyer.id)) == 2
    if step == "update":
        assert "Something was put into the basket in the meantime" in text_of(saved)
        removed = buyer.send(FORM, {**fields_of(saved), **typed, "remove": "1"})
        assert "CABLE" not in text_of(removed)
        assert len(rows(shop, "select from basket_line where user_id = %s", buyer.id)) == 1
