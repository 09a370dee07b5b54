"""Blocking, exporting and erasing customers in the back office."""

import io
import zipfile

import httpx2

from support.backoffice import BackOfficeSite
from support.events import number_events
from support.orders import buy


def test_a_blocked_customer_is_shown_as_blocked(staff: httpx2.Client, office: BackOfficeSite) -> None:
    customer_id = office.service.customer().id
    path = f"/api/customer/{customer_id}"
    blocked = staff.post(f"{path}/block", json={"reason": "Late"}).json()
    assert (blocked["blocked"], blocked["blocked_reason"]) == (True, "Late")
    assert staff.post(f"{path}/block", json={"reason": "Late"}).status_code == 409
    assert staff.delete(f"{path}/block").status_code == 204
    assert staff.get(path).json()["blocked"] is False
    assert staff.delete(f"{path}/block").status_code == 409
    assert staff.post(f"{path}/block", json={"reason": " "}).status_code == 400
    number_events(office.service)
    found = staff.get("/api/event", params={"type": "customer.blocked,customer.changed", "limit": 1000}).json()
    assert [event["data"] for event in found if event["customer_id"] == customer_id] == [
        {"customer_id": customer_id, "reason": "Late"},
        {"customer_id": customer_id, "changed": ["blocked"]},
    ]


def test_a_customer_is_exported_and_erased_unless_something_is_open(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    customer = office.service.customer()
    path = f"/api/customer/{customer.id}"
    archive = zipfile.ZipFile(io.BytesIO(staff.get(f"{path}/export").content))
    assert "customer.json" in archive.namelist()
    erased = staff.post(f"{path}/erase").json()
    assert erased["email_address"] == f"erased-{customer.id}@erased.invalid"
    assert staff.post(f"{path}/erase").status_code == 409
    assert staff.get("/api/customer/999999/export").status_code == 404

    busy = office.service.customer()
    buy(busy)
    assert staff.post(f"/api/customer/{busy.id}/erase").status_code == 409
