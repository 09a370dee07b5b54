"""Staff keep lists with their filters under names, for themselves or for all."""

import pytest

from support.backoffice import BackOfficeSite
from support.orders import buy, rows
from support.pages import Person, staff_member, text_of
from support.service import Customer, Service

LIST = "/order?status=Awaiting+dispatch&sort=-total"


def member(office: BackOfficeSite, *roles: str) -> Person:
    return staff_member(office.service, office.url, *(roles or ("support",)))


def saved(person: Person, name: str, of: str = LIST, **options: str) -> str:
    """Save a view; the page to which the form leads."""
    answer = person.send("/view/new", {"once": "", "of": of, "name": name, **options})
    assert answer.status_code == 303, text_of(answer)
    return str(answer.headers["Location"])


def test_a_filtered_list_can_be_saved_and_opened_again(office: BackOfficeSite, customer: Customer) -> None:
    person = member(office)
    buy(customer)
    assert "Save this view" not in text_of(person.get("/order"))
    shown = person.get(LIST)
    assert "/view/new?of=/order%3Fstatus%3DAwaiting%2Bdispatch%26sort%3D-total" in shown.text
    assert saved(person, "To pack <now>").endswith(LIST)
    page = person.get("/view?of=/order")
    assert "To pack <now>" in text_of(page)
    assert f'href="{LIST.replace("&", "&amp;")}"' in page.text
    assert "To pack" not in text_of(person.get("/view?of=/customer"))


def test_only_a_shared_view_is_seen_by_others_who_may_open_its_list(office: BackOfficeSite) -> None:
    person, colleague, other = member(office), member(office), member(office, "catalogue")
    saved(person, "My own")
    saved(person, "For all", shared="true")
    assert "My own" not in text_of(colleague.get("/view"))
    assert "For all" in text_of(colleague.get("/view"))
    assert "For all" not in text_of(other.get("/view"))


def test_today_has_the_views_that_are_wanted_there(office: BackOfficeSite) -> None:
    person = member(office)
    saved(person, "Seen daily", on_today="true")
    saved(person, "Seen seldom")
    today = person.get("/")
    assert "Seen daily" in text_of(today)
    assert "Seen seldom" not in text_of(today)
    assert f'hx-get="{LIST.replace("&", "&amp;")}"' in today.text
    assert 'id="row-count"' in person.get(LIST).text


def test_a_view_is_deleted_by_its_owner_and_a_shared_one_by_an_administrator(
    shop: Service, office: BackOfficeSite
) -> None:
    person, colleague, administrator = member(office), member(office), member(office, "administrator")
    saved(person, "To go", shared="true")
    [(number,)] = rows(shop, "select id from saved_view where name = 'To go'")
    assert colleague.send(f"/view/{number}/delete").status_code == 404
    assert "To go" not in text_of(administrator.sends(f"/view/{number}/delete"))
    saved(person, "Private")
    [(number,)] = rows(shop, "select id from saved_view where name = 'Private'")
    assert administrator.send(f"/view/{number}/delete").status_code == 404
    assert "Private" not in text_of(person.sends(f"/view/{number}/delete"))


@pytest.mark.parametrize(
    "of",
    ["https://elsewhere.example/order", "//elsewhere.example/order", "/audit/no", "javascript:alert(1)", "", "order"],
)
def test_only_lists_of_the_site_can_be_saved(office: BackOfficeSite, of: str) -> None:
    person = member(office, "administrator")
    assert person.send("/view/new", {"once": "", "of": of, "name": "Bad"}).status_code == 400
    assert person.get("/view/new", params={"of": of}).status_code == 400
    assert rows(office.service, "select from saved_view where name = 'Bad'") == []


def test_a_list_that_a_role_may_not_open_cannot_be_saved(office: BackOfficeSite) -> None:
    person = member(office, "warehouse")
    assert person.send("/view/new", {"once": "", "of": "/money", "name": "Bad"}).status_code == 400


def test_a_view_without_a_name_is_not_saved(office: BackOfficeSite) -> None:
    answer = member(office).send("/view/new", {"once": "", "of": LIST, "name": " "})
    assert answer.status_code == 400
    assert "Name" in text_of(answer)


def test_shared_views_of_others_push_no_own_one_off_today(office: BackOfficeSite) -> None:
    person, colleague, other = member(office), member(office, "administrator"), member(office)
    for number in range(13):
        saved(colleague, f"A shared one {number}", of="/staff?sort=name", shared="true", on_today="true")
        saved(other, f"Another one {number}", of="/customer?sort=name", shared="true", on_today="true")
    saved(person, "My own one", on_today="true")
    today = text_of(person.get("/"))
    assert "My own one" in today
    assert "A shared one" not in today
    assert "Another one" in today


def test_an_address_that_is_none_is_rejected_by_its_field(office: BackOfficeSite) -> None:
    person = member(office)
    assert person.get("/view/new?of=//%5B").status_code == 400
    answer = person.send("/view/new", {"once": "", "of": "//[", "name": "Broken"})
    assert answer.status_code == 400


def test_a_view_of_any_letters_can_be_opened(office: BackOfficeSite) -> None:
    person = member(office)
    address = saved(person, "Ångström", of="/customer?query=Ångström & co")
    assert address == "/customer?query=%C3%85ngstr%C3%B6m+"
    assert person.get(address).status_code == 200
