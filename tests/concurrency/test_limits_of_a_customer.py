"""The limits of what a customer keeps, such as saved lists, hold for requests at the same time."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import invoiced, number_of
from support.orders import in_parallel, rows
from support.pages import customer_user
from support.service import Customer, Service
from support.shop import price, product
from support.waiting import waiting_for_a_lock

pytestmark = pytest.mark.sweep

AT_ONCE = 12


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as found:
        yield found


@pytest.fixture
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


def test_lists_at_the_same_time_never_exceed_the_limit(office: BackOfficeSite, customer: Customer) -> None:
    staff, path = office.caller("customers:write"), f"/api/customer/{customer.id}/list"
    rows(
        office.service,
        "insert into saved_list (customer_id, name, created_at)"
        " select %s, 'List ' || n, now() from generate_series(1, 197) n returning id",
        customer.id,
    )
    responses = in_parallel([partial(staff.post, path, json={"name": "One more"})] * AT_ONCE)
    assert Counter(response.status_code for response in responses) == {201: 3, 409: AT_ONCE - 3}
    assert rows(office.service, "select count(*) from saved_list where customer_id = %s", customer.id) == [(200,)]


def test_lines_at_the_same_time_never_exceed_the_limit(office: BackOfficeSite, customer: Customer) -> None:
    service = office.service
    skus = [f"LINE-{number:03}" for number in range(497 + AT_ONCE)]
    service.must_load("products", [product(sku) for sku in skus])
    service.must_load("price-list", [price(sku, 1) for sku in skus])
    [(list_id,)] = rows(
        service,
        "insert into saved_list (customer_id, name, created_at) values (%s, 'Long', now()) returning id",
        customer.id,
    )
    rows(
        service,
        "insert into saved_list_line (list_id, product_id, quantity)"
        " select %s, id, 1 from product where sku = any(%s) returning list_id",
        list_id,
        skus[:497],
    )
    buyers = [customer_user(service, customer.id, "buyer") for _ in range(AT_ONCE)]
    responses = in_parallel(
        [
            partial(buyer.send, "/account/list/add", {"list": str(list_id), "sku": sku, "quantity": "1"})
            for buyer, sku in zip(buyers, skus[497:], strict=True)
        ]
    )
    assert Counter(response.status_code for response in responses) == {303: 3, 400: AT_ONCE - 3}
    assert rows(service, "select count(*) from saved_list_line where list_id = %s", list_id) == [(500,)]


def test_a_list_that_is_deleted_while_it_grows_is_not_found(office: BackOfficeSite, customer: Customer) -> None:
    service = office.service
    buyer, staff = customer_user(service, customer.id, "buyer"), office.caller("customers:write")
    path = f"/api/customer/{customer.id}/list"
    for _ in range(5):
        made = staff.post(path, json={"name": "Short-lived"}).headers["Location"]
        fields = {"list": made.rpartition("/")[2], "sku": "PHONE", "quantity": "1"}
        grow = [partial(buyer.send, "/account/list/add", fields)] * 4
        responses = in_parallel([*grow, partial(staff.delete, made)])
        assert {response.status_code for response in responses} <= {204, 303, 404}


def test_prices_of_a_list_that_is_being_deleted_are_not_followed(office: BackOfficeSite, customer: Customer) -> None:
    service = office.service
    buyer = customer_user(service, customer.id, "buyer")
    path = str(buyer.send("/account/list/new", {"name": "Short-lived", "lines": "PHONE 1"}).headers["Location"])
    list_id = path.rpartition("/")[2]
    with ThreadPoolExecutor(1) as threads, psycopg.connect(service.database_url) as holder:
        holder.execute("delete from saved_list where id = %s", [list_id])
        following = threads.submit(buyer.send, "/account/alert/prices", {"list": list_id})
        waiting_for_a_lock(service.database_url)
        holder.commit()
    assert following.result().status_code == 404


def test_alerts_at_the_same_time_never_exceed_the_limit(office: BackOfficeSite, customer: Customer) -> None:
    service = office.service
    skus = [f"WAITED-FOR-{number:03}" for number in range(201)]
    service.must_load("products", [product(sku) for sku in skus])
    service.must_load("price-list", [price(sku, 1) for sku in skus])
    buyer = customer_user(service, customer.id, "buyer")
    rows(
        service,
        "insert into stock_alert (user_id, product_id, created_at) select u.id, p.id, now()"
        " from customer_user u, product p where u.customer_id = %s and p.sku = any(%s) returning 1",
        customer.id,
        skus[:199],
    )
    with ThreadPoolExecutor(2) as threads, psycopg.connect(service.database_url) as holder:
        holder.execute("select from customer_user where customer_id = %s for no key update", [customer.id])
        adding = [threads.submit(buyer.send, "/account/alert/add", {"sku": sku}) for sku in skus[199:]]
        waiting_for_a_lock(service.database_url)
        holder.commit()
    assert sorted(added.result().status_code for added in adding) == [303, 409]


def test_followed_lists_at_the_same_time_never_exceed_the_limit(office: BackOfficeSite, customer: Customer) -> None:
    service = office.service
    buyer = customer_user(service, customer.id, "buyer")
    lists = rows(
        service,
        "insert into saved_list (customer_id, name, created_at)"
        " select %s, 'List ' || n, now() from generate_series(1, 21) n returning id",
        customer.id,
    )
    followed = [str(list_id) for (list_id,) in lists]
    for list_id in followed[:19]:
        assert buyer.send("/account/alert/prices", {"list": list_id}).status_code == 303
    with ThreadPoolExecutor(2) as threads, psycopg.connect(service.database_url) as holder:
        holder.execute("select from customer_user where customer_id = %s for no key update", [customer.id])
        following = [threads.submit(buyer.send, "/account/alert/prices", {"list": each}) for each in followed[19:]]
        waiting_for_a_lock(service.database_url, processes=2)
        holder.commit()
    assert sorted(found.result().status_code for found in following) == [303, 409]


def test_payments_told_of_at_the_same_time_never_exceed_the_limit(office: BackOfficeSite, customer: Customer) -> None:
    invoice = number_of(office.service, invoiced(office.service, customer))
    staff = office.caller("billing:write")
    body = {"customer_id": customer.id, "invoices": [invoice], "amount": 1}
    for _ in range(47):
        assert staff.post("/api/remittance", json=body).status_code == 201
    responses = in_parallel([partial(staff.post, "/api/remittance", json=body)] * AT_ONCE)
    assert Counter(response.status_code for response in responses) == {201: 3, 409: AT_ONCE - 3}
    assert rows(office.service, "select count(*) from remittance where customer_id = %s", customer.id) == [(50,)]


def test_webhooks_and_contacts_at_the_same_time_never_exceed_their_limits(
    office: BackOfficeSite, customer: Customer
) -> None:
    staff = office.caller()
    webhook = {"url": "https://hooks.example/x", "customer_id": customer.id}
    contact = {"name": "Jo", "email": "jo@shop.example"}
    for path, body, most in (("/api/webhook", webhook, 20), (f"/api/customer/{customer.id}/contact", contact, 50)):
        for _ in range(most - 3):
            assert staff.post(path, json=body).status_code == 201
        responses = in_parallel([partial(staff.post, path, json=body)] * AT_ONCE)
        assert Counter(response.status_code for response in responses)[201] == 3, path


def test_webhooks_of_the_reseller_at_the_same_time_never_exceed_their_limit(office: BackOfficeSite) -> None:
    service, staff = office.service, office.caller()
    webhook = {"url": "https://hooks.example/x"}
    for _ in range(19):
        assert staff.post("/api/webhook", json=webhook).status_code == 201
    with ThreadPoolExecutor(2) as threads, psycopg.connect(service.database_url) as holder:
        holder.execute("lock table webhook in share mode")  # stops additions after they have counted
        adding = [threads.submit(staff.post, "/api/webhook", json=webhook) for _ in range(2)]
        waiting_for_a_lock(service.database_url, processes=2)
        holder.commit()
    assert sorted(added.result().status_code for added in adding) == [201, 409]
    assert rows(service, "select count(*) from webhook where customer_id is null") == [(20,)]


def test_a_contact_is_compared_with_what_a_change_at_the_same_time_leaves(
    office: BackOfficeSite, customer: Customer
) -> None:
    service, staff = office.service, office.caller()
    contact = str(staff.post(f"/api/customer/{customer.id}/contact", json={"name": "Jo"}).headers["Location"])
    with ThreadPoolExecutor(1) as threads, psycopg.connect(service.database_url) as holder:
        holder.execute("select from customer where id = %s for no key update", [customer.id])
        holder.execute("update customer_contact set name = 'Joan' where customer_id = %s", [customer.id])
        changed = threads.submit(staff.patch, contact, json={"name": "Jo"})
        waiting_for_a_lock(service.database_url)
        holder.commit()
    assert changed.result().is_success
    query = "select action from audit_entry where subject = %s and action = 'customer.change_contact'"
    assert len(rows(service, query, f"customer/{customer.id}")) == 1


def test_feeds_at_the_same_time_never_exceed_the_limit(office: BackOfficeSite, customer: Customer) -> None:
    service = office.service
    rows(
        service,
        "insert into feed (customer_id, name, columns, filter, markup, rounding, vat_included, hash, secret,"
        " created_at, addressed_at) select %s, 'x', '[[\"sku\", \"sku\"]]', '{}', 0, 'penny', false,"
        " sha256(convert_to('feed ' || n, 'UTF8')), '', now(), now() from generate_series(1, 49) n returning 1",
        customer.id,
    )
    developers = [customer_user(service, customer.id, "developer") for _ in range(2)]
    terms = {"name": "Shop", "columns": "sku\nname", "markup": "0", "once": ""}
    with ThreadPoolExecutor(2) as threads, psycopg.connect(service.database_url) as holder:
        holder.execute("select from customer where id = %s for update", [customer.id])
        sent = [threads.submit(each.send, "/account/developer/feed/new", terms) for each in developers]
        waiting_for_a_lock(service.database_url, processes=2)
        holder.commit()
    assert [each.result().status_code for each in sent].count(409) == 1
    assert rows(service, "select count(*) from feed where customer_id = %s", customer.id) == [(50,)]
