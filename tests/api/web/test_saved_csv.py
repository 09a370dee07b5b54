"""CSV for a browser has a file name (specification, CSV)."""

from typing import Any

import pytest

from support.orders import buy
from support.service import Customer, Service

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
NAMES = {"/product": "products.csv", "/order": "orders.csv"}


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    customer = shop.customer()
    buy(customer)
    return customer


@pytest.mark.parametrize("path", NAMES)
@pytest.mark.parametrize("params", [{}, {"limit": 1}, {"limit": 0}, {"page": 99}, {"accept": "text/csv"}])
def test_a_browser_always_gets_csv_with_a_file_name(customer: Customer, path: str, params: dict[str, Any]) -> None:
    for _ in range(3):  # products are cached from the second request on
        response = customer.get(path, params=params, headers={"Accept": BROWSER})
        assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
        assert response.headers["Content-Disposition"] == f'attachment; filename="{NAMES[path]}"'


@pytest.mark.parametrize("path", NAMES)
@pytest.mark.parametrize(
    ("accept", "params"),
    [
        ("text/csv", {}),
        ("*/*", {}),
        ("text/*", {}),
        ("text/html;q=0, text/csv", {}),
        ("text/htmlx", {}),
        ("application/json, text/html;q=0.5", {}),
        (BROWSER, {"accept": "application/json"}),
    ],
)
def test_programs_and_json_get_no_file_name(customer: Customer, path: str, accept: str, params: dict[str, str]) -> None:
    for _ in range(2):
        response = customer.get(path, params=params, headers={"Accept": accept})
        assert response.status_code == 200
        assert "Content-Disposition" not in response.headers
