"""The pages of staff members and service tokens."""

import re
import secrets
from datetime import timedelta

import pytest

from support.backoffice import BackOfficeSite
from support.orders import at, rows
from support.pages import Person, fields_of, staff_member, text_of
from support.people import PASSWORD, choose_password
from support.people import staff_member as member_who_signs_in
from support.signing_in import Place
from tradecounter.edge.pages.page_site import BACK_OFFICE

STEPS = ("/staff/new", "/staff/1/edit", "/staff/1/disable", "/staff/1/reset", "/token/new", "/token/1/revoke")


def test_administrators_see_the_settings_in_force_without_secrets(office: BackOfficeSite) -> None:
    ada = staff_member(office.service, office.url, "administrator")
    shown = text_of(ada.get("/settings"))
    assert "SECRET_KEY (hidden)" in shown
    assert "PENDING_ORDER_LIFETIME" in shown
    assert office.service.database_url not in shown
    assert staff_member(office.service, office.url, "support").get("/settings").status_code == 403


def test_a_member_is_added_and_gets_a_link(office: BackOfficeSite, sam: Person) -> None:
    fields = fields_of(sam.get("/staff/new")) | {
        "name": "New <b>One</b>", "email": "new.one@reseller.example", "roles": ["support", "finance"],
    }  # fmt: skip
    made = sam.send("/staff/new", fields)
    assert made.status_code == 200
    token = re.search(r"set-password\?token=([A-Za-z0-9_-]+)", made.text)
    assert token is not None
    choose_password(office.service, "staff", token[1], PASSWORD)
    assert sam.send("/staff/new", fields).status_code == 303
    page = sam.get("/staff")
    assert "set-password" not in page.text
    assert "New &lt;b&gt;One&lt;/b&gt;" in page.text
    assert "support, finance" in text_of(page)


def test_the_list_says_who_has_a_second_factor_and_who_was_here(office: BackOfficeSite, sam: Person) -> None:
    away = member_who_signs_in(office.service)
    place = Place(office.service, BACK_OFFICE, office.url, member_who_signs_in(office.service))
    place.set_up_factor(place.signed_in())
    cells = dict(re.findall(r"<small>(\S+@\S+)</small></th>(.*?)<td><div", sam.get("/staff").text, re.DOTALL))
    shown = {email: re.findall(r">(Yes|No|Not lately)<", cells[email]) for email in (away.email, place.who.email)}
    assert shown == {away.email: ["No", "Not lately"], place.who.email: ["Yes"]}
    link = re.search(r'href="(/audit\?[^"]+)"', cells[place.who.email])
    assert link is not None
    assert "signed in" in text_of(sam.get(link[1]))


def test_errors_of_a_member_are_beside_their_fields(sam: Person) -> None:
    fields = fields_of(sam.get("/staff/new"))
    wrong = sam.send("/staff/new", {**fields, "name": "Pat", "email": "nowhere", "roles": "support"})
    assert "form-email-error" in wrong.text
    long = sam.send("/staff/new", {**fields, "name": "Pat", "email": f"{secrets.token_hex(5_000)}@r.example"})
    assert "form-email-error" in long.text
    assert "form-roles-error" in sam.send("/staff/new", {**fields, "name": "Pat", "email": "p@r.example"}).text
    assert "form-name-error" in sam.send("/staff/new", {**fields, "email": "p@r.example", "roles": "support"}).text
    taken = sam.send("/staff/new", {**fields, "name": "Pat", "email": sam.email, "roles": "support"})
    assert taken.status_code == 409
    assert "another staff member" in text_of(taken)


def test_roles_change_at_once(office: BackOfficeSite, sam: Person) -> None:
    pat = staff_member(office.service, office.url, "support", name="Pat")
    assert pat.get("/money").status_code == 200
    path = f"/staff/{pat.id}/edit"
    page = sam.sends(path, fields_of(sam.get(path)) | {"name": "Pat Smith", "roles": ["warehouse"]})
    assert "Pat Smith is changed." in text_of(page)
    assert pat.get("/money").status_code == 403
    [(before, after)] = rows(
        office.service, "select before, after from audit_entry where action = 'staff.edit' and subject = %s",
        f"staff/{pat.email}",
    )  # fmt: skip
    assert before == {"name": "Pat", "roles": ["support"]}
    assert after == {"name": "Pat Smith", "roles": ["warehouse"]}
    assert "form-roles-error" in sam.send(path, {"name": "Pat", "roles": ""}).text
    assert sam.get("/staff/999999/edit").status_code == 404


def test_a_member_is_disabled_and_enabled_with_a_new_link(office: BackOfficeSite, sam: Person) -> None:
    pat = staff_member(office.service, office.url, "support", name="Pat")
    path = f"/staff/{pat.id}/disable"
    assert "is disabled" in text_of(sam.sends(path, fields_of(sam.get(path))))
    assert pat.get("/").status_code == 303
    reset = f"/staff/{pat.id}/reset"
    made = sam.send(reset, fields_of(sam.get(reset)))
    assert "set-password?token=" in made.text
    assert rows(office.service, "select disabled_at from staff_member where id = %s", pat.id) == [(None,)]


def test_an_administrator_stays_one(office: BackOfficeSite) -> None:
    ada = staff_member(office.service, office.url, "administrator", name="Ada")
    assert f"/staff/{ada.id}/disable" not in ada.get("/staff").text
    disabled = ada.send(f"/staff/{ada.id}/disable", {"once": "a"})
    assert disabled.status_code == 409
    assert "ask another administrator" in text_of(disabled)
    assert ada.send(f"/staff/{ada.id}/edit", {"name": "Ada", "roles": ["support"]}).status_code == 409
    assert ada.send(f"/staff/{ada.id}/edit", {"name": "Ada B", "roles": ["administrator"]}).status_code == 303


def test_a_token_is_added_shown_once_and_revoked(office: BackOfficeSite, sam: Person) -> None:
    fields = fields_of(sam.get("/token/new")) | {
        "name": "ERP <i>", "scopes": ["orders:read", "billing:write"], "expires": "2026-06-20",
    }  # fmt: skip
    made = sam.send("/token/new", fields)
    assert made.status_code == 200
    secret = re.search(r"<code>([A-Za-z0-9_-]{64})</code>", made.text)
    assert secret is not None
    assert office.client(secret[1]).get("/api/order").status_code == 200
    assert office.client(secret[1]).get("/api/customer").status_code == 403
    assert sam.send("/token/new", fields).status_code == 303
    page = sam.get("/staff")
    assert secret[1] not in page.text
    assert "ERP &lt;i&gt;" in page.text
    [(token_id, expires)] = rows(office.service, "select id, expires_at from service_token where name = 'ERP <i>'")
    assert expires.isoformat() == "2026-06-20T23:00:00+00:00"
    path = f"/token/{token_id}/revoke"
    assert "is revoked" in text_of(sam.sends(path, fields_of(sam.get(path))))
    assert office.client(secret[1]).get("/api/order").status_code == 401
    assert sam.get("/token/999999/revoke").status_code == 404


def test_errors_of_a_token_are_beside_their_fields(sam: Person) -> None:
    fields = fields_of(sam.get("/token/new"))
    assert "form-scopes-error" in sam.send("/token/new", {**fields, "name": "ERP"}).text
    assert "form-name-error" in sam.send("/token/new", {**fields, "scopes": "orders:read"}).text
    past = sam.send("/token/new", {**fields, "name": "ERP", "scopes": "orders:read", "expires": "2026-01-01"})
    assert "form-expires-error" in past.text
    assert re.search(r'value="orders:read" checked', past.text)


@pytest.mark.parametrize("path", STEPS)
def test_dangerous_steps_ask_for_the_password_again(office: BackOfficeSite, path: str) -> None:
    ada = staff_member(office.service, office.url, "administrator")
    with at(office.service, office.service.clock.now() + timedelta(minutes=11)):
        asked = ada.get(path)
        assert asked.status_code == 303
        assert asked.headers["Location"].startswith("/sign-in/again?next=")
        assert ada.send(path).status_code == 303


@pytest.mark.parametrize("role", ["support", "warehouse", "finance", "catalogue"])
def test_only_administrators_see_staff_and_tokens(office: BackOfficeSite, role: str) -> None:
    pat = staff_member(office.service, office.url, role)
    assert "Staff and tokens" not in text_of(pat.get("/"))
    for path in ("/staff", *STEPS):
        assert pat.get(path).status_code == 403
        if path != "/staff":
            assert pat.send(path).status_code == 403
