"""`/customer/{id}/catalogue`: staff see the shop as one customer does."""

import re

from support.orders import sell
from support.pages import Person, text_of
from support.service import Customer, Service


def offers(page: str) -> str:
    """The products of a page, without what adds them and leads to their pages."""
    listed = "".join(re.findall(r'<ul [^>]*class="offers"[^>]*>(.*?)</ul>\n', page, flags=re.DOTALL))
    plain = re.sub(r"<form.*?</form>|<label class=\"compare-tick.*?</label>", "", listed, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", plain).split())


def test_staff_see_the_prices_and_the_stock_that_the_customer_sees(
    shop: Service, customer: Customer, buyer: Person, sam: Person
) -> None:
    for number in range(3):
        sell(shop, f"SEEN-{number}", 40, available=number * 7, name=f"Seen phone {number}")
    shop.must_load("contract-prices", [{"customer_id": customer.id, "sku": "SEEN-1", "single_unit_cost": 31.5}])
    path = f"/customer/{customer.id}/catalogue"
    assert f'href="{path}"' in sam.get(f"/customer/{customer.id}").text
    for query in ("?query=seen", "?query=seen&sort=price", "?query=seen&inStock=true", "?manufacturer=acme&page=1"):
        own, staffs = buyer.get(f"/account/product{query}"), sam.get(f"{path}{query}")
        assert (own.status_code, staffs.status_code) == (200, 200)
        assert "£31.50" in offers(staffs.text)
        assert offers(staffs.text) == offers(own.text)
    page = sam.get(f"{path}?query=seen")
    assert "/account" not in page.text
    assert "Add SEEN-1" not in page.text
    assert f'href="/product/SEEN-1?customer={customer.id}"' in page.text
    assert "Credit left" in text_of(page)


def test_what_the_customer_cannot_buy_is_not_there(shop: Service, customer: Customer, sam: Person) -> None:
    sku = sell(shop, "UNSEEN", 10, active=False)
    assert sku not in offers(sam.get(f"/customer/{customer.id}/catalogue?query=unseen").text)
    assert sam.get("/customer/999999/catalogue").status_code == 404
    assert sam.get(f"/customer/{customer.id}/catalogue?attribute=nonesuch").status_code == 400
