"""Changes of one contact at the same moment: each keeps what the other has changed."""

from functools import partial

import httpx2

from support.backoffice import BackOfficeSite
from support.orders import in_parallel


def test_changes_of_different_fields_at_the_same_time_all_stay(office: BackOfficeSite, staff: httpx2.Client) -> None:
    path = f"/api/customer/{office.service.customer().id}/contact"
    number = staff.post(path, json={"name": "Ada"}).json()["id"]
    for turn in range(5):
        wanted = {"task": f"Orders {turn}", "phone": f"01632 96000{turn}", "email": f"ada{turn}@shop.example"}
        changes = [partial(staff.patch, f"{path}/{number}", json={name: value}) for name, value in wanted.items()]
        assert [response.status_code for response in in_parallel(changes)] == [200, 200, 200]
        [contact] = staff.get(path).json()
        assert {name: contact[name] for name in wanted} == wanted
