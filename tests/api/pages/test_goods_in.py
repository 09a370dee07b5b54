"""The warehouse books deliveries in, and enters counts."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from support.backoffice import BackOfficeSite
from support.orders import buy, dispatch, in_parallel, level, rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Service
from tradecounter.goods_in.count_stock import read_count_lines
from tradecounter.kit.clock import uk_date


@pytest.fixture
def warehouse(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "warehouse")


def deliver(shop: Service, sku: str, units: int, days: int = 3) -> None:
    """Expect a delivery."""
    day = uk_date(shop.clock.now()) + timedelta(days=days)
    shop.must_load("incoming", [{"sku": sku, "incoming": units, "expected_on": str(day)}])


def booked(person: Person, sku: str, **changed: str) -> dict[str, str]:
    """The fields of the page of one product's deliveries, with changes of the first."""
    fields = fields_of(person.get(f"/goods-in?query={sku}"), where=lambda name: name != "query")
    return fields | {f"items-0-{name}": value for name, value in changed.items()}


def left(shop: Service, sku: str) -> list[int]:
    found = rows(
        shop, "select incoming from incoming_stock join product on id = product_id where sku = %s order by 1", sku
    )
    return [units for (units,) in found]


def test_a_delivery_serves_the_orders_that_wait_first(shop: Service, warehouse: Person) -> None:
    sku = sell(shop, "GOODS-1", 10)
    placed = buy(shop.customer(), [(sku, 4)])
    deliver(shop, sku, 10)
    page = text_of(warehouse.sends("/goods-in", booked(warehouse, sku, units="10")))
    assert "10 units of 1 product booked in. 4 units for orders that have waited." in page
    assert "Other than expected" not in page
    assert level(shop, sku)[:2] == (6, 4)
    assert left(shop, sku) == []
    assert placed["order_reference"]


def test_what_is_missing_stays_expected_until_it_is_said_not_to_come(shop: Service, warehouse: Person) -> None:
    sku = sell(shop, "GOODS-2", 10)
    deliver(shop, sku, 10)
    page = text_of(warehouse.sends("/goods-in", booked(warehouse, sku, units="7")))
    assert f"Other than expected: {sku} -3." in page
    assert left(shop, sku) == [3]
    warehouse.sends("/goods-in", booked(warehouse, sku, ends="true"))
    assert left(shop, sku) == []
    assert level(shop, sku)[0] == 7


def test_more_than_expected_is_booked_in(shop: Service, warehouse: Person) -> None:
    sku = sell(shop, "GOODS-3", 10)
    deliver(shop, sku, 2)
    assert f"{sku} +2" in text_of(warehouse.sends("/goods-in", booked(warehouse, sku, units="4")))
    assert level(shop, sku)[0] == 4


def test_a_delivery_is_booked_in_once(shop: Service, warehouse: Person) -> None:
    sku = sell(shop, "GOODS-4", 10)
    deliver(shop, sku, 5)
    fields = booked(warehouse, sku, units="5")
    warehouse.sends("/goods-in", fields)
    warehouse.send("/goods-in", fields)
    again = warehouse.send("/goods-in", fields | {"once": "another"})
    assert again.status_code == 400
    assert level(shop, sku)[0] == 5


def test_two_deliveries_of_a_product_are_booked_in_together(shop: Service, warehouse: Person) -> None:
    sku = sell(shop, "GOODS-6", 10)
    deliver(shop, sku, 5, days=3)
    deliver(shop, sku, 6, days=5)
    fields = booked(warehouse, sku, units="5") | {"items-1-units": "2"}
    page = text_of(warehouse.sends("/goods-in", fields))
    assert f"7 units of 1 product booked in. Other than expected: {sku} -4." in page
    assert left(shop, sku) == [4]
    twice = booked(warehouse, sku, units="1")
    twice |= {name.replace("items-0", "items-1"): value for name, value in twice.items()}
    answer = warehouse.send("/goods-in", twice)
    assert answer.status_code == 400
    assert "is there twice" in text_of(answer)


def test_two_people_who_book_the_same_deliveries_wait_for_each_other(shop: Service, warehouse: Person) -> None:
    skus = [sell(shop, f"GOODS-7{letter}", 10) for letter in "AB"]
    for _ in range(5):
        for sku in skus:
            deliver(shop, sku, 4)
        fields = fields_of(warehouse.get("/goods-in?query=goods-7"), where=lambda name: name != "query")
        fields |= {"items-0-units": "4", "items-1-units": "4"}
        turned = fields | {
            f"items-{place}-{name}": fields[f"items-{1 - place}-{name}"]
            for place in (0, 1)
            for name in ("sku", "expected_on")
        }
        calls = [partial(warehouse.send, "/goods-in", way | {"once": ""}) for way in (fields, turned)]
        answers = in_parallel(calls)
        assert sorted(answer.status_code for answer in answers) == [303, 400]
    assert [level(shop, sku)[0] for sku in skus] == [20, 20]


def test_two_people_who_book_a_part_of_a_delivery_do_not_book_it_twice(shop: Service, warehouse: Person) -> None:
    sku = sell(shop, "GOODS-8", 10)
    deliver(shop, sku, 10)
    fields = booked(warehouse, sku, units="4")
    warehouse.sends("/goods-in", fields)
    second = warehouse.send("/goods-in", fields | {"once": ""})
    assert second.status_code == 409
    assert "6 units are expected now, not 10" in text_of(second)
    assert level(shop, sku)[0] == 4
    assert fields_of(second, where=lambda name: name != "query")["items-0-incoming"] == "6"


def test_after_an_error_units_stay_with_their_product(shop: Service, warehouse: Person) -> None:
    first, second, third = (sell(shop, f"GOODS-9{letter}", 10) for letter in "ABC")
    deliver(shop, first, 5)
    deliver(shop, second, 5)
    fields = fields_of(warehouse.get("/goods-in?query=goods-9"), where=lambda name: name != "query")
    fields |= {"items-0-units": "1", "items-1-units": "2", "items-1-ends": "true"}
    warehouse.sends("/goods-in", booked(warehouse, first, units="5"))
    deliver(shop, third, 7, days=2)
    answer = warehouse.send("/goods-in?query=goods-9", fields)
    assert answer.status_code == 400
    gone = f"{first} Not expected any more. You have filled in 1. No delivery of {first} is expected then"
    assert gone in text_of(answer)
    redrawn = fields_of(answer, where=lambda name: name != "query")
    assert (redrawn["items-1-sku"], redrawn["items-1-units"], redrawn["items-1-ends"]) == (second, "2", "true")
    assert (redrawn["items-2-sku"], redrawn["items-2-units"]) == (third, "")
    assert "items-0-sku" not in redrawn
    assert "5 units" not in text_of(warehouse.sends("/goods-in?query=goods-9", redrawn))
    assert left(shop, second) == []


def test_more_than_twice_what_is_expected_is_asked_about(shop: Service, warehouse: Person) -> None:
    sku = sell(shop, "GOODS-SLIP", 10)
    deliver(shop, sku, 10)
    answer = warehouse.send("/goods-in", booked(warehouse, sku, units="1000"))
    assert answer.status_code == 400
    assert f"{sku}: it is right 1000 are there, and 10 are expected" in text_of(answer)
    assert level(shop, sku)[0] == 0
    fields = fields_of(answer, where=lambda name: name != "query") | {"items-0-sure": "true", "once": "sure"}
    numbers = [name.split("-")[1] for name, value in fields.items() if name.endswith("-sku") and value == sku]
    fields |= {f"items-{numbers[0]}-sure": "true"}
    warehouse.sends("/goods-in", fields)
    assert level(shop, sku)[0] == 1000


def test_what_ends_and_what_comes_of_a_delivery_is_in_the_audit_log(shop: Service, warehouse: Person) -> None:
    sku = sell(shop, "GOODS-10", 10)
    deliver(shop, sku, 10)
    warehouse.sends("/goods-in", booked(warehouse, sku, units="7"))
    warehouse.sends("/goods-in", booked(warehouse, sku, ends="true"))
    query = "select before, after from audit_entry where action = 'delivery.receive' and subject = %s order by id"
    entries = rows(shop, query, f"product/{sku}")
    assert [(b["incoming"], a["received"], a["incoming"]) for b, a in entries] == [(10, 7, 3), (3, 0, 0)]


@pytest.mark.sweep
def test_the_message_of_a_long_delivery_is_short(shop: Service, warehouse: Person) -> None:
    skus = [sell(shop, f"GOODS-LONG-{'X' * 20}-{n}", 10) for n in range(40)]
    for sku in skus:
        deliver(shop, sku, 2)
    fields = fields_of(warehouse.get("/goods-in?query=goods-long"), where=lambda name: name != "query")
    fields |= {f"items-{n}-units": "1" for n in range(40)}
    assert "-1 and 35 more." in text_of(warehouse.sends("/goods-in", fields))


def test_an_error_books_nothing(shop: Service, warehouse: Person) -> None:
    first, second = sell(shop, "GOODS-5A", 10), sell(shop, "GOODS-5B", 10)
    deliver(shop, first, 5)
    deliver(shop, second, 5)
    fields = fields_of(warehouse.get("/goods-in?query=goods-5"), where=lambda name: name != "query")
    answer = warehouse.send("/goods-in", fields | {"items-0-units": "5", "items-1-units": "many"})
    assert answer.status_code == 400
    assert "Units of GOODS-5B that are there" in text_of(answer)
    assert left(shop, first) == [5]
    assert warehouse.send("/goods-in", fields).status_code == 400


def test_a_sheet_has_products_by_place_without_their_numbers(shop: Service, warehouse: Person) -> None:
    for sku, place in (("SHEET-1", "Z-2"), ("SHEET-2", "Z-1"), ("SHEET-3", "Y-1")):
        sell(shop, sku, 10, available=77)
        shop.must_load("stock", [{"sku": sku, "available": 77, "location": place}])
    file = warehouse.get("/count-sheet?place=z&format=csv").text.splitlines()
    assert file == [
        "sku,counted,location,name",
        "SHEET-2,,Z-1,Product SHEET-2",
        "SHEET-1,,Z-2,Product SHEET-1",
    ]
    assert "77" not in text_of(warehouse.get("/count-sheet?place=z"))


def test_a_count_shows_the_differences_before_it_changes_anything(shop: Service, warehouse: Person) -> None:
    missing, right, blank = (sell(shop, f"COUNT-{n}", 10, available=8) for n in (1, 2, 3))
    buy(shop.customer(), [(missing, 2)])
    lines = f"sku,counted,location,name\n{missing},7,A,x\n{right},8,A,y\n{blank},,A,z"
    shown = warehouse.send("/count-sheet/return", {"once": "", "lines": lines, "reason": "Year end"})
    assert f"1 product has another number. SKU Expected Counted Difference {missing} 8 7 -1" in text_of(shown)
    assert level(shop, missing)[0] == 6
    page = warehouse.sends("/count-sheet/return", fields_of(shown) | {"lines": lines, "reason": "Year end"})
    assert "The count is entered: 1 product had another number." in text_of(page)
    assert level(shop, missing)[0] == 5
    assert rows(shop, "select after ->> 'reason' from audit_entry where subject = %s", f"product/{missing}") == [
        ("Year end",)
    ]


def test_a_count_of_other_stock_than_was_shown_is_shown_again(shop: Service, warehouse: Person) -> None:
    sku = sell(shop, "COUNT-4", 10, available=8)
    shown = warehouse.send("/count-sheet/return", {"once": "", "lines": f"{sku} 7"})
    shop.must_load("stock", [{"sku": sku, "available": 20}])
    again = warehouse.send("/count-sheet/return", fields_of(shown))
    assert again.status_code == 200
    assert f"{sku} 20 7 -13 large difference" in text_of(again)
    assert "1 difference is large: count it again" in text_of(again)
    assert level(shop, sku)[0] == 20


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "What you counted"),
        ("here", "no line of a SKU and a number"),
        ("PHONE 1\nPHONE 2", "line 2 names PHONE again, after line 1"),
        ("PHONE 1\nCABLE some", "line 2 'CABLE some' must end with a whole number of units: 'some' is not"),
        ("PHONE,1,000", "line 1 'PHONE,1,000' has 3 cells, and only 2 have a heading"),
        ("PHONE;1,000", "which may be a decimal comma"),
        ("PHONE " + "1" * 400, "has more than"),
        ("NO-SUCH-SKU 1", "NO-SUCH-SKU"),
        ("PHONE -1", "has a sign, which has no meaning here"),
        ("PHONE,1," + "x" * 200_000, "line 1 cannot be read"),
    ],
)
def test_a_count_that_cannot_be_read_says_why(warehouse: Person, lines: str, said: str) -> None:
    answer = warehouse.send("/count-sheet/return", {"once": "", "lines": lines})
    assert answer.status_code == 400
    assert said.lower() in text_of(answer).lower()


def test_counts_are_read_as_people_and_spreadsheets_write_them() -> None:
    lines = [
        "ACME-1 12",
        "ACME-2\t1000",
        'ACME-3,"2,000"',
        "ACME-4; 7",
        "Two words 5",
        "9 x ACME-6",
        "ACME-5,",
        "ACME-7 0",
    ]
    assert read_count_lines("\n".join(lines)) == {
        "ACME-1": 12,
        "ACME-2": 1000,
        "ACME-3": 2000,
        "ACME-4": 7,
        "Two words": 5,
        "ACME-6": 9,
        "ACME-7": 0,
    }


def test_a_downloaded_sheet_is_read_by_its_headings() -> None:
    sheet = 'sep=;\nname;location;sku;counted\nName; A-1; ACME-1;3\n"Other; name";A-2;ACME-2;\n'
    assert read_count_lines(sheet) == {"ACME-1": 3}


def test_counts_are_by_sku_or_ean_and_all_that_is_unknown_is_named(shop: Service, warehouse: Person) -> None:
    sku = sell(shop, "COUNT-EAN", 10, available=8, ean="5012345678900")
    shown = warehouse.send("/count-sheet/return", {"once": "", "lines": "5012345678900 7"})
    assert f"{sku} 8 7 -1" in text_of(shown)
    answer = warehouse.send("/count-sheet/return", {"once": "", "lines": f"NO-ONE 1\n{sku} 7\nNO-TWO 2"})
    assert answer.status_code == 400
    assert "no product has the SKU or EAN NO-ONE, NO-TWO" in text_of(answer)
    twice = warehouse.send("/count-sheet/return", {"once": "", "lines": f"{sku} 1\n5012345678900 7"})
    assert f"{sku} is there twice" in text_of(twice)


def test_all_products_counted_below_their_allocation_are_named_together(shop: Service, warehouse: Person) -> None:
    skus = [sell(shop, f"COUNT-5{letter}", 10, available=8) for letter in "ABC"]
    buy(shop.customer(), [(sku, 3) for sku in skus[:2]])
    lines = f"{skus[0]} 2\n{skus[1]} 1\n{skus[2]} 5"
    shown = warehouse.send("/count-sheet/return", {"once": "", "lines": lines})
    assert text_of(shown).count("3 are allocated to orders") == 2
    answer = warehouse.send("/count-sheet/return", fields_of(shown))
    assert answer.status_code == 409
    assert f"allocated to orders: {skus[0]} (2 of 3), {skus[1]} (1 of 3)" in text_of(answer)
    assert f"{skus[2]} 8 5 -3" in text_of(answer)
    assert [level(shop, sku)[0] for sku in skus] == [5, 5, 8]


def test_a_dispatch_under_way_is_not_counted_back_into_stock(shop: Service, warehouse: Person) -> None:
    sku = sell(shop, "COUNT-6", 10, available=8)
    for _ in range(5):
        placed = buy(shop.customer(), [(sku, 1)])
        there = sum(level(shop, sku)[:2])
        shown = warehouse.send("/count-sheet/return", {"once": "", "lines": f"{sku} {there}"})
        enter = partial(warehouse.send, "/count-sheet/return", fields_of(shown))
        calls: list[Callable[[], Any]] = [enter, partial(dispatch, shop, placed)]
        counted, _ = in_parallel(calls)
        if counted.status_code == 303:  # it was counted before the parcel left
            assert sum(level(shop, sku)[:2]) == there - 1
        else:
            assert f"{sku} {there - 1} {there} +1" in text_of(counted)
