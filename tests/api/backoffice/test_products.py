"""`/api/product`, `/api/price`, `/api/stock/adjustment` and `/api/job`."""

from typing import Any

import httpx2
import psycopg
import pytest

from support.backoffice import BackOfficeSite, backoffice_of, pages
from support.orders import buy, sell
from support.service import Service
from support.shop import NEXT_DAY


def test_products_are_searched_by_sku_and_name(staff: httpx2.Client) -> None:
    listed = [product["sku"] for page in pages(staff, "/api/product?limit=2") for product in page]
    assert listed == ["CABLE", "PHONE", "SWITCH"]
    assert [found["sku"] for found in staff.get("/api/product?query=product pho").json()] == ["PHONE"]
    assert staff.get("/api/product?limit=0").status_code == 400


def test_products_are_filtered(staff: httpx2.Client) -> None:
    def found(wanted: str) -> list[str]:
        return [product["sku"] for page in pages(staff, f"/api/product?limit=2&{wanted}") for product in page]

    assert found("manufacturer=Acme") == ["CABLE", "PHONE", "SWITCH"]
    assert found("manufacturer=unknown") == []
    assert found("query=product&manufacturer=acme&show=sold") == ["CABLE", "PHONE", "SWITCH"]
    assert found("show=not_sold") == []
    rejected = staff.get("/api/product?show=cheap")
    assert rejected.status_code == 400
    assert [error["field"] for error in rejected.json()["errors"]] == ["show"]


@pytest.mark.parametrize("wanted", ["query=cord", "query=cord&show=sold", "manufacturer=acme&category=cords"])
def test_pages_have_each_product_once_where_the_collation_orders_skus_otherwise_than_bytes(
    own_shop: Service, wanted: str
) -> None:
    """The embedded server has no other collation than C; a server that has one proves more."""
    skus = ["CORD0", "CORD_1", "CORDA", "CORD-B", "CORD01", "CORD_"]
    with psycopg.connect(own_shop.database_url) as connection:
        found = connection.execute(
            "select quote_ident(collname) from pg_collation"
            " where collname in ('en-GB-x-icu', 'en_GB.utf8', 'en_US.utf8') limit 1"
        ).fetchone()
        if found is not None:
            connection.execute(f"alter table product alter column sku_key type text collate {found[0]}")
    with backoffice_of(own_shop) as office:
        staff = office.caller()
        rows = "\n".join(f"{sku},Cord,acme,cords,1" for sku in skus)
        for kind, csv in (
            ("categories", "key,name\ncords,Cords"),
            ("products", f"sku,name,manufacturer,categories,weight_kg\n{rows}"),
        ):
            sent = staff.post(f"/api/import/{kind}", content=csv, headers={"Content-Type": "text/csv"})
            assert sent.status_code == 200, sent.text
        office.refresh()
        listed = [product["sku"] for page in pages(staff, f"/api/product?limit=2&{wanted}") for product in page]
        assert sorted(listed) == sorted(skus)


def test_a_product_is_shown_with_stock_and_every_price(staff: httpx2.Client) -> None:
    shown = staff.get("/api/product/phone").json()
    assert shown["stock"]["on_hand"] == shown["stock"]["available"] + shown["stock"]["allocated"]
    assert shown["prices"] == [
        {"price_list": "default", "single_unit_cost": 50, "five_plus_unit_cost": 45, "ten_plus_unit_cost": 40}
    ]
    assert staff.get("/api/product/PHON").status_code == 404


def test_a_price_is_explained(office: BackOfficeSite, staff: httpx2.Client) -> None:
    customer = office.service.customer(discount="10.00")
    shown = staff.get(f"/api/price?sku=PHONE&customer_id={customer.id}&quantity=6").json()
    assert (shown["unit_cost"], shown["break"], shown["rule"], shown["discount"]) == (40.5, 5, "default", 10)
    [candidate] = shown["candidates"]
    assert (candidate["single_unit_cost"], candidate["applies"]) == (50, True)
    assert staff.get(f"/api/price?customer_id={customer.id}").json()["message"] == "sku: is required"
    assert staff.get("/api/price?sku=PHONE").json()["message"] == "customer_id: is required"
    neither = staff.get("/api/price?sku=").json()
    assert [(error["field"], error["message"]) for error in neither["errors"]] == [
        ("sku", "is required"),
        ("customer_id", "is required"),
    ]
    assert staff.get("/api/price?sku=PHONE&customer_id=999999").status_code == 404
    assert staff.get(f"/api/price?sku=%20&customer_id={customer.id}").status_code == 404


def test_the_interface_document_says_which_parameters_are_required(staff: httpx2.Client) -> None:
    parameters = staff.get("/api/openapi.json").json()["paths"]["/api/price"]["get"]["parameters"]
    found = {each["name"]: (each["required"], each["allowEmptyValue"]) for each in parameters if each["in"] == "query"}
    assert found == {"sku": (True, False), "customer_id": (True, False), "quantity": (False, True)}


def test_stock_is_adjusted_and_waiting_orders_come_first(office: BackOfficeSite, staff: httpx2.Client) -> None:
    customer = office.service.customer()
    placed = buy(customer, [("SWITCH", 5)], NEXT_DAY)

    def adjust(**values: object) -> httpx2.Response:
        item = {"sku": "switch", "reason": "Stocktake", **values}
        return staff.post("/api/stock/adjustment", json={"items": [item]})

    [stock] = adjust(change=4).json()["items"]
    assert (stock["on_hand"], stock["available"], stock["allocated"], stock["back_ordered"]) == (7, 2, 5, 0)
    assert staff.get(f"/api/order/{placed['order_reference']}").json()["items"][0]["quantity_allocated"] == 5
    [entry] = staff.get("/api/audit?subject=product/SWITCH").json()
    assert (entry["before"], entry["after"]) == ({"SWITCH": 3}, {"SWITCH": 7, "reason": "Stocktake"})
    rejected = adjust(set=4)
    assert rejected.status_code == 409
    assert "5 of 7 units are allocated" in rejected.json()["message"]
    assert adjust(set=5).json()["items"][0]["available"] == 0
    for wrong in ({}, {"set": 1, "change": 1}, {"set": -1}):
        assert adjust(**wrong).status_code == 400
    assert adjust(change=1_000_000_000).json()["message"].startswith("items[0].change: must leave at most")
    twice = {"items": [{"sku": sku, "set": 9, "reason": "x"} for sku in ("switch", "SWITCH")]}
    assert staff.post("/api/stock/adjustment", json=twice).status_code == 400
    assert staff.get("/api/product/SWITCH").json()["stock"]["on_hand"] == 5, "nothing of a rejected request stays"


@pytest.fixture
def failed_job(office: BackOfficeSite, staff: httpx2.Client) -> int:
    buy(office.service.customer(order_mails=True))
    job = staff.get("/api/job?state=todo&limit=1000").json()[-1]["id"]
    with psycopg.connect(office.service.database_url, autocommit=True) as database:
        database.execute("update procrastinate_jobs set status = 'failed' where id = %s", [job])
    return int(job)


def test_a_failed_job_runs_again_once(staff: httpx2.Client, failed_job: int) -> None:
    assert [job["id"] for job in staff.get("/api/job?state=failed").json()] == [failed_job]
    again = staff.post(f"/api/job/{failed_job}/retry").json()
    assert (again["state"], again["name"]) == ("todo", "mail_order_confirmed")
    assert staff.post(f"/api/job/{failed_job}/retry").status_code == 409
    assert staff.post("/api/job/999999999/retry").status_code == 404
    assert staff.get("/api/job?state=lost").status_code == 400


def test_one_product_is_whole(office: BackOfficeSite, staff: httpx2.Client) -> None:
    shop = office.service
    told: dict[str, Any] = {
        "short_description": "Short",
        "description": "Longer",
        "description_html": "<p>Longer</p>",
        "images": [{"is_primary": True, "url": "https://pictures.example/1.jpg"}],
        "documents": [{"name": "Datasheet", "url": "https://pictures.example/1.pdf"}],
        "related_products": ["CABLE"],
        "store_url": "https://shop.example/whole",
    }
    sell(shop, "WHOLE", 100, purchase_cost="61.20", box_width_mm=210, **told)
    shown = staff.get("/api/product/WHOLE").json()
    assert {name: shown[name] for name in told} == told
    assert (shown["purchase_cost"], shown["box_width_mm"], shown["attributes"]) == (61.2, 210, {})
    assert staff.get("/api/product/CABLE").json()["purchase_cost"] is None
