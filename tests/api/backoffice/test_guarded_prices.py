"""`POST /api/import/price-list` and `contract-prices`: figures of prices, and 409 for those that may be slips."""

from typing import Any

import httpx2

from support.backoffice import BackOfficeSite
from support.orders import rows, sell

CSV = {"Content-Type": "text/csv"}


def send(staff: httpx2.Client, sku: str, cost: str, query: str = "", price_list: str = "default") -> httpx2.Response:
    content = f"price_list,sku,single_unit_cost\n{price_list},{sku},{cost}\n"
    return staff.post(f"/api/import/price-list{query}", content=content, headers=CSV)


def cost_of(office: BackOfficeSite, sku: str) -> Any:
    statement = "select single_unit_cost from price join product p on p.id = product_id where sku = %s"
    return rows(office.service, statement, sku)[0][0]


def test_a_price_that_may_be_a_slip_is_409_without_force(staff: httpx2.Client, office: BackOfficeSite) -> None:
    office.service.customer()
    sku = sell(office.service, "SLIP-1", 100)
    tried = send(staff, sku, "10", "?dry_run=true&diff=true")
    assert tried.status_code == 200
    report = tried.json()
    assert (report["raised"], report["lowered"], report["largest_fall"], report["guarded"]) == (0, 1, -90, 1)
    assert report["diff"][0]["percent"] == -90
    assert report["customers"] > 0

    rejected = send(staff, sku, "10")
    assert rejected.status_code == 409
    message = (
        f"{sku} of price list default: single_unit_cost £100.00 -> £10.00 is more than half off its price of £100.00"
    )
    assert rejected.json()["errors"] == [{"field": "line 2", "message": message, "code": "conflict"}]
    assert "force=true" in rejected.json()["message"]
    assert cost_of(office, sku) == 100

    forced = send(staff, sku, "10", "?force=true")
    assert (forced.status_code, forced.json()["lowered"]) == (200, 1)
    assert cost_of(office, sku) == 10
    made = staff.get("/api/import?limit=1").json()[0]
    assert (made["id"], made["lowered"], made["largest_fall"]) == (forced.json()["id"], 1, -90)
    back = staff.post(f"/api/import/{made['id']}/roll-back").json()
    assert (back["raised"], back["lowered"], back["largest_rise"]) == (1, 0, 900)
    assert cost_of(office, sku) == 100


def test_a_list_that_nobody_knows_is_409_without_force(staff: httpx2.Client, office: BackOfficeSite) -> None:
    sku = sell(office.service, "SLIP-2", 100)
    rejected = send(staff, sku, "99", price_list="trda")
    assert rejected.status_code == 409
    assert "price list trda has no prices yet and is no customer's" in rejected.json()["message"]
    assert send(staff, sku, "99", "?force=true", price_list="trda").status_code == 200
    assert send(staff, sku, "98", price_list="trda").status_code == 200


def test_reports_of_other_kinds_have_no_figures_of_prices(staff: httpx2.Client, office: BackOfficeSite) -> None:
    sku = sell(office.service, "SLIP-3", 100)
    content = f"sku,available\n{sku},9\n"
    report = staff.post("/api/import/stock", content=content, headers=CSV).json()
    assert "raised" not in report
    assert staff.get("/api/import?limit=1").json()[0]["raised"] is None
