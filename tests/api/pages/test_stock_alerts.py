"""Stock alerts: a user is told once when a product is in stock."""

from datetime import timedelta
from email.message import EmailMessage
from functools import partial

from support.mail import deliver_mail, html, plain
from support.orders import rows, sell
from support.pages import Person, customer_user, text_of
from support.proxy import linked
from support.service import Customer, Service, running_service
from support.shop import product
from tradecounter.alerts.queries import mark_in_stock, waiting_in_stock
from tradecounter.alerts.tell_users import tell_of_stock

ALERTS = "/account/alert"


def told(service: Service, *people: Person) -> list[EmailMessage]:
    """The mails about stock to these people after the worker has looked."""
    service.in_transaction(lambda tx: tell_of_stock(tx, service.clock.now()))
    emails = {person.email for person in people}
    mails = [mail for mail in deliver_mail(service) if mail["Subject"].startswith("In stock: ")]
    return [mail for mail in mails if emails & {address.addr_spec for address in mail["To"].addresses}]


def test_a_user_is_told_once_when_a_product_is_in_stock(shop: Service, buyer: Person) -> None:
    sku = sell(shop, "WAITED-1", name="Waited <for>", available=0)
    assert "Tell me when it is in stock" in text_of(buyer.get(f"/account/product/{sku}"))
    page = buyer.sends(f"{ALERTS}/add", {"sku": sku})
    assert f"You get an e-mail when {sku} is in stock." in text_of(page)
    assert "Waited <for>" in text_of(page)
    assert told(shop, buyer) == []
    shop.must_load("stock", [{"sku": sku, "available": 3}])
    [mail] = told(shop, buyer)
    assert mail["Subject"] == f"In stock: {sku}"
    assert "Waited <for>" in plain(mail)
    assert "Waited &lt;for&gt;" in html(mail)
    assert told(shop, buyer) == []
    shop.refresh()
    assert "Tell me when" not in text_of(buyer.get(f"/account/product/{sku}"))
    assert "In stock" in text_of(buyer.get(ALERTS)).replace("in stock", "In stock")


def test_products_of_the_same_minute_are_one_mail(shop: Service, buyer: Person) -> None:
    found = [sell(shop, f"TOGETHER-{n}", available=0) for n in range(3)]
    for sku in found:
        buyer.sends(f"{ALERTS}/add", {"sku": sku})
    shop.must_load("stock", [{"sku": sku, "available": 1} for sku in found])
    [mail] = told(shop, buyer)
    assert mail["Subject"].endswith(" and 2 more")
    assert all(sku in plain(mail) for sku in found)


def test_products_of_two_minutes_are_two_mails_also_if_both_wait_for_the_mail_server(
    shop: Service, buyer: Person
) -> None:
    found = [sell(shop, f"APART-{n}", available=0) for n in range(2)]
    for minutes, sku in enumerate(found):
        buyer.sends(f"{ALERTS}/add", {"sku": sku})
        shop.must_load("stock", [{"sku": sku, "available": 1}])
        now = shop.clock.now() + timedelta(minutes=minutes)
        shop.in_transaction(partial(tell_of_stock, now=now))
    assert sorted(mail["Subject"] for mail in told(shop, buyer)) == [f"In stock: {sku}" for sku in found]


def test_who_was_told_may_wait_again(shop: Service, buyer: Person) -> None:
    sku = sell(shop, "WAITED-2", available=1)
    buyer.sends(f"{ALERTS}/add", {"sku": sku})
    assert len(told(shop, buyer)) == 1
    buyer.sends(f"{ALERTS}/add", {"sku": sku})
    assert len(told(shop, buyer)) == 1


def test_a_product_that_is_no_longer_sold_has_no_link(shop: Service, buyer: Person) -> None:
    sku = sell(shop, "WAITED-GONE", available=0)
    assert f'href="/account/product/{sku}"' in buyer.sends(f"{ALERTS}/add", {"sku": sku}).text
    shop.must_load("products", [product(sku, active=False)])
    shop.refresh()
    page = buyer.get(ALERTS)
    assert f'href="/account/product/{sku}"' not in page.text
    assert f"{sku} Product {sku}, no longer sold to you" in text_of(page)


def test_a_customer_is_told_of_a_product_once_it_has_a_price_again(
    shop: Service, customer: Customer, buyer: Person
) -> None:
    sku = "WAITED-PRICE"
    contract = {"customer_id": customer.id, "sku": sku, "single_unit_cost": 10}
    shop.must_load("products", [product(sku)])
    shop.must_load("contract-prices", [contract | {"valid_until": "2020-01-01"}])
    shop.must_load("stock", [{"sku": sku, "available": 3}])
    query = "insert into stock_alert (user_id, product_id, created_at) select %s, id, now() from product where sku = %s"
    rows(shop, f"{query} returning user_id", buyer.id, sku)
    assert told(shop, buyer) == []
    shop.must_load("contract-prices", [contract])
    [mail] = told(shop, buyer)
    assert mail["Subject"] == f"In stock: {sku}"


def test_what_is_sold_out_or_blocked_meanwhile_waits_on(shop: Service, customer: Customer, buyer: Person) -> None:
    sku = sell(shop, "WAITED-MEANWHILE", available=0)
    buyer.sends(f"{ALERTS}/add", {"sku": sku})
    shop.must_load("stock", [{"sku": sku, "available": 1}])
    found = shop.in_transaction(lambda tx: waiting_in_stock(tx, buyer.id - 1, 1))
    assert found
    mark = partial(mark_in_stock, alerts=found, now=shop.clock.now())
    shop.must_load("stock", [{"sku": sku, "available": 0}])
    assert shop.in_transaction(mark) == []
    shop.must_load("stock", [{"sku": sku, "available": 1}])
    rows(
        shop, "update customer set blocked_at = now(), blocked_reason = 'late' where id = %s returning id", customer.id
    )
    assert shop.in_transaction(mark) == []
    rows(shop, "update customer set blocked_at = null, blocked_reason = null where id = %s returning id", customer.id)
    assert len(told(shop, buyer)) == 1


def test_nobody_else_is_told(shop: Service, customer: Customer, buyer: Person) -> None:
    sku = sell(shop, "WAITED-3", available=0)
    colleague, gone = customer_user(shop, customer.id), customer_user(shop, customer.id)
    for person in (buyer, gone):
        person.sends(f"{ALERTS}/add", {"sku": sku})
    rows(shop, "update customer_user set disabled_at = now() where id = %s returning id", gone.id)
    shop.must_load("stock", [{"sku": sku, "available": 3}])
    assert len(told(shop, buyer, colleague, gone)) == 1


def test_an_alert_is_removed(shop: Service, buyer: Person) -> None:
    sku = sell(shop, "WAITED-4", available=0)
    buyer.sends(f"{ALERTS}/add", {"sku": sku})
    [(product_id,)] = rows(shop, "select id from product where sku = %s", sku)
    stranger = customer_user(shop, shop.customer().id)
    assert stranger.send(f"{ALERTS}/{product_id}/remove").status_code == 404
    assert "The alert is removed." in text_of(buyer.sends(f"{ALERTS}/{product_id}/remove"))
    assert buyer.send(f"{ALERTS}/{product_id}/remove").status_code == 404
    shop.must_load("stock", [{"sku": sku, "available": 3}])
    assert told(shop, buyer) == []


def test_an_unknown_product_cannot_be_waited_for(buyer: Person) -> None:
    assert buyer.send(f"{ALERTS}/add", {"sku": "NOTHING"}).status_code == 404
    assert buyer.send(f"{ALERTS}/add", {"sku": ""}).status_code == 400
    assert "No alerts yet." in text_of(buyer.get(ALERTS))


def test_there_is_a_limit_to_alerts(shop: Service, buyer: Person) -> None:
    many = """
        insert into stock_alert (user_id, product_id, created_at)
        select %s, id, now() from product where sku <> 'PHONE' order by sku <> 'CABLE', id limit 200 returning user_id
    """
    have = rows(shop, "select count(*) from product")[0][0]
    shop.must_load(
        "products", [{"sku": f"MANY-{n}", "name": "Many", "manufacturer": "acme"} for n in range(201 - have)]
    )
    assert len(rows(shop, many, buyer.id)) == 200
    rejected = buyer.send(f"{ALERTS}/add", {"sku": "PHONE"})
    assert rejected.status_code == 409
    assert "200 products already" in text_of(rejected)
    assert rows(shop, "select count(*) from stock_alert where user_id = %s", buyer.id) == [(200,)]
    buyer.sends(f"{ALERTS}/add", {"sku": "CABLE"})  # the user waits for it already


def test_alerts_of_many_customers_take_as_many_statements_as_those_of_one(shop: Service) -> None:
    told(shop)
    told_of = []
    for customers in (1, 5):
        sku = f"WAITED-BY-{customers}"
        shop.must_load("products", [product(sku)])
        for _ in range(customers):
            customer = shop.customer()
            shop.must_load("contract-prices", [{"customer_id": customer.id, "sku": sku, "single_unit_cost": 10}])
            customer_user(shop, customer.id).sends(f"{ALERTS}/add", {"sku": sku})
        shop.must_load("stock", [{"sku": sku, "available": 3}])
        with linked(shop.database_url) as link, running_service(link.url) as running:
            running.in_transaction(lambda tx: waiting_in_stock(tx, 0, 1))
            link.spoken.clear()
            assert running.in_transaction(lambda tx: tell_of_stock(tx, running.clock.now())) == customers
            told_of.append(link.statements)
    one, five = told_of
    assert five - one < 2 * 4, "one more customer takes one more statement, which queues its e-mail"


def test_many_users_are_told_in_batches_and_each_in_one_mail(shop: Service) -> None:
    told(shop)
    unpriced, *priced = [customer_user(shop, shop.customer().id) for _ in range(4)]
    shop.must_load("products", [product(f"BATCH-{n}") for n in range(300)] + [product("BATCH-UNPRICED")])
    shop.must_load(
        "stock", [{"sku": sku, "available": 3} for sku in ("BATCH-UNPRICED", *(f"BATCH-{n}" for n in range(300)))]
    )
    shop.must_load(
        "price-list", [{"price_list": "default", "sku": f"BATCH-{n}", "single_unit_cost": 10} for n in range(300)]
    )
    waits = """
        insert into stock_alert (user_id, product_id, created_at)
        select %s, id, now() from product where sku ~ %s returning user_id
    """
    rows(shop, waits, unpriced.id, "BATCH-U")
    for person in priced:
        assert len(rows(shop, waits, person.id, "BATCH-[0-9]")) == 300
    batches = [shop.in_transaction(lambda tx: tell_of_stock(tx, shop.clock.now())) for _ in range(3)]
    assert batches == [2, 1, 0]
    assert len(told(shop, *priced)) == 3
    assert told(shop, unpriced) == []
