"""The customer's pages of addresses and users."""

import re
import secrets
from datetime import timedelta

from support.orders import at, rows
from support.pages import Person, customer_user, fields_of, text_of
from support.people import disable
from support.service import Customer, Service
from support.shop import ADDRESS
from tradecounter.access.queries.people import find_user_by_id
from tradecounter.kit.clock import uk_date

ADDRESSES, USERS = "/account/address", "/account/user"


def saved_id(customer: Customer) -> int:
    return int(customer.post("/customer/address", ADDRESS).json()["id"])


def test_an_address_is_added_and_shown(owner: Person, customer: Customer) -> None:
    assert "You have no saved addresses yet" in text_of(owner.get(ADDRESSES))
    added = owner.sends(f"{ADDRESSES}/new", {**ADDRESS, "company_name": "Tools & <More>"})
    assert "Tools & <More>" in text_of(added)
    assert "<More>" not in added.text
    [found] = customer.get("/customer/address").json()
    assert found["company_name"] == "Tools & <More>"


def test_a_wrong_address_is_explained_beside_its_fields(owner: Person) -> None:
    page = owner.send(f"{ADDRESSES}/new", {**ADDRESS, "city": " ", "contact_number": "call me"})
    assert page.status_code == 400
    assert 'id="form-city-error"' in page.text
    assert 'value="1 Test Street"' in page.text
    page = owner.send(f"{ADDRESSES}/new", {**ADDRESS, "contact_number": "call me"})
    assert 'id="form-contact_number-error"' in page.text


def test_an_address_is_changed_and_keeps_its_id(shop: Service, owner: Person, customer: Customer) -> None:
    address_id = saved_id(customer)
    path = f"{ADDRESSES}/{address_id}"
    assert fields_of(owner.get(path))["city"] == "Leeds"
    owner.sends(path, {**ADDRESS, "city": "Bradford"})
    [found] = customer.get("/customer/address").json()
    assert (found["id"], found["city"]) == (address_id, "Bradford")
    [(kind, before, after)] = rows(
        shop,
        "select actor_kind, before, after from audit_entry where action = 'address.change' and subject = %s",
        f"customer/{customer.id}",
    )
    assert kind == "user"
    assert (before["city"], after["city"]) == ("Leeds", "Bradford")
    owner.sends(path, {**ADDRESS, "city": "Bradford"})
    assert rows(shop, "select count(*) from audit_entry where action = 'address.change'")[0][0] == 1
    assert owner.send(path, {**ADDRESS, "zip": ""}).status_code == 400


def test_an_address_is_removed(owner: Person, customer: Customer) -> None:
    path = f"{ADDRESSES}/{saved_id(customer)}"
    assert "Remove this address?" in text_of(owner.get(f"{path}/remove"))
    assert "You have no saved addresses yet" in text_of(owner.sends(f"{path}/remove"))
    assert owner.send(f"{path}/remove").status_code == 404
    assert customer.get("/customer/address").json() == []


def test_addresses_of_others_do_not_exist(shop: Service, owner: Person) -> None:
    path = f"{ADDRESSES}/{saved_id(shop.customer())}"
    for each in (path, f"{path}/remove", f"{ADDRESSES}/x"):
        assert owner.get(each).status_code == 404
        assert owner.send(each, ADDRESS).status_code == 404


def test_only_owners_and_buyers_see_addresses(shop: Service, customer: Customer) -> None:
    for role in ("accounts", "developer"):
        person = customer_user(shop, customer.id, role)
        assert person.get(ADDRESSES).status_code == 403
        assert person.send(f"{ADDRESSES}/new", ADDRESS).status_code == 403
    assert customer_user(shop, customer.id, "buyer").get(ADDRESSES).status_code == 200


def users(shop: Service, customer: Customer) -> dict[str, tuple[str, bool]]:
    """Role and whether enabled, by address."""
    found = rows(shop, "select email, role, disabled_at is null from customer_user where customer_id = %s", customer.id)
    return {email: (role, enabled) for email, role, enabled in found}


def only_owner(shop: Service, customer: Customer, owner: Person) -> None:
    """Disable the other owner, which every account has from its start."""
    [(other,)] = rows(shop, "select id from customer_user where customer_id = %s and id <> %s", customer.id, owner.id)
    owner.sends(f"{USERS}/{other}/disable")


def test_an_owner_invites_a_user(shop: Service, customer: Customer, owner: Person) -> None:
    page = owner.sends(f"{USERS}/invite", {"email": "new.buyer@example.com", "roles": "buyer"})
    assert "new.buyer@example.com gets an e-mail" in text_of(page)
    assert users(shop, customer)["new.buyer@example.com"] == ("buyer", True)
    again = owner.send(f"{USERS}/invite", {"email": "NEW.BUYER@example.com", "roles": "owner"})
    assert again.status_code == 409
    for fields in (
        {"email": "nobody", "roles": "buyer"},
        {"email": f"{secrets.token_hex(5_000)}@example.com", "roles": "buyer"},
        {"email": "a@example.com", "roles": "king"},
        {"roles": "buyer"},
    ):
        wrong = owner.send(f"{USERS}/invite", fields)
        assert wrong.status_code == 400
    assert "a@example.com" not in users(shop, customer)


def test_owners_see_when_users_were_last_here_and_how_they_sign_in(
    shop: Service, customer: Customer, owner: Person
) -> None:
    with at(shop, shop.clock.now() - timedelta(days=3)):
        day = uk_date(shop.clock.now())
        seen = f"{day.day} {day:%b %Y}"
        buyer = customer_user(shop, customer.id, "buyer")
    owner.sends(f"{USERS}/invite", {"email": "never@example.com", "roles": "buyer"})
    rows(shop, "update customer_user set password_hash = 'x' where id = %s returning id", buyer.id)

    def said() -> list[str]:
        text = text_of(owner.get(USERS))
        return [text.split(email)[1].split("Change")[0] for email in (buyer.email, "never@example.com")]

    [visit, never] = said()
    assert f"active {seen} password alone" in visit
    assert "invited not lately" in never
    factor = "insert into second_factor (user_id, secret, created_at, confirmed_at) values (%s, '', now(), now())"
    rows(shop, f"{factor} returning id", buyer.id)
    assert f"active {seen} with a second factor" in said()[0]


def test_an_invitation_says_nothing_about_users_of_others(shop: Service, owner: Person) -> None:
    other = customer_user(shop, shop.customer().id)
    page = owner.send(f"{USERS}/invite", {"email": other.email, "roles": "buyer"})
    assert page.status_code == 400
    assert "customer" not in text_of(page).split("Invite a user")[1]


def test_roles_are_changed(shop: Service, customer: Customer, owner: Person) -> None:
    person = customer_user(shop, customer.id, "buyer")
    assert person.get(USERS).status_code == 403
    owner.sends(f"{USERS}/{person.id}/role", {"roles": "accounts"})
    assert users(shop, customer)[person.email] == ("accounts", True)
    assert person.get("/account/order").status_code == 403
    assert owner.send(f"{USERS}/{person.id}/role", {"roles": "king"}).status_code == 400
    unticked = re.findall(
        '<input type="hidden" name="(roles)" value="([^"]*)">', owner.get(f"{USERS}/{person.id}/role").text
    )
    without = owner.send(f"{USERS}/{person.id}/role", dict(unticked))
    assert without.status_code == 400
    assert 'id="form-roles-error"' in without.text
    assert fields_of(owner.get(f"{USERS}/{person.id}/role"))["roles"] == "accounts"


def test_a_user_may_have_several_roles(shop: Service, customer: Customer, owner: Person) -> None:
    person = customer_user(shop, customer.id, "accounts")
    said = text_of(owner.sends(f"{USERS}/{person.id}/role", {"roles": ["accounts", "buyer"]}))
    assert f"{person.email} has the roles buyer and accounts." in said
    assert "Buyer, Accounts" in said
    for path in ("/account/order", "/account/invoice", "/account/product"):
        assert person.get(path).status_code == 200
    assert person.get("/account/developer").status_code == 403
    office = shop.in_transaction(lambda tx: find_user_by_id(tx, person.id))
    assert office is not None
    assert (office.role, office.roles) == ("buyer", ("buyer", "accounts"))


def test_a_user_has_a_limit_for_one_order(shop: Service, customer: Customer, owner: Person) -> None:
    person = customer_user(shop, customer.id, "buyer")
    path = f"{USERS}/{person.id}/role"
    page = owner.sends(path, {"roles": "buyer", "order_limit": "1,250.50"})
    assert "orders up to £1,250.50" in text_of(page)
    assert fields_of(owner.get(path))["order_limit"] == "1250.50"
    for wrong in ("0", "-5", "x", "1.234", "1000000000"):
        rejected = owner.send(path, {"roles": "buyer", "order_limit": wrong})
        assert rejected.status_code == 400, wrong
        assert 'id="form-order_limit-error"' in rejected.text
    assert "orders up to" not in text_of(owner.sends(path, {"roles": "buyer", "order_limit": ""}))
    changed = "select before, after from audit_entry where action = 'user.change_role' and subject = %s order by id"
    [first, last] = rows(shop, changed, f"user/{person.email}")
    assert first == ({"order_limit": None}, {"order_limit": 1250.5})
    assert last == ({"order_limit": 1250.5}, {"order_limit": None})


def test_the_audit_log_has_the_limit_of_an_invitation(shop: Service, customer: Customer, owner: Person) -> None:
    path, email = f"{USERS}/invite", f"limited{customer.id}@example.com"
    owner.sends(path, {"email": email, "roles": "buyer", "order_limit": "500"})
    disable(shop, email)
    owner.sends(path, {"email": email, "roles": "buyer", "order_limit": ""})
    invited = "select before, after from audit_entry where action = 'user.invite' and subject = %s order by id"
    [first, again] = rows(shop, invited, f"user/{email}")
    assert first == ({}, {"customer_id": customer.id, "roles": ["buyer"], "order_limit": 500})
    assert again == ({"order_limit": 500}, {"customer_id": customer.id, "order_limit": None})


def test_a_disabled_user_is_signed_out(shop: Service, customer: Customer, owner: Person) -> None:
    person = customer_user(shop, customer.id, "buyer")
    owner.sends(f"{USERS}/{person.id}/disable")
    assert person.get("/account").status_code == 303
    assert users(shop, customer)[person.email] == ("buyer", False)
    assert owner.send(f"{USERS}/{person.id}/role", {"roles": "owner"}).status_code == 409
    owner.sends(f"{USERS}/invite", {"email": person.email, "roles": "developer"})
    assert users(shop, customer)[person.email] == ("developer", True)


def test_the_last_owner_stays(shop: Service, customer: Customer, owner: Person) -> None:
    only_owner(shop, customer, owner)
    for step, fields in (("role", {"roles": "buyer"}), ("disable", {})):
        page = owner.send(f"{USERS}/{owner.id}/{step}", fields)
        assert page.status_code == 409
        assert "is the only owner" in text_of(page)
    assert "The only owner stays" in text_of(owner.get(USERS))
    second = customer_user(shop, customer.id, "owner")
    owner.sends(f"{USERS}/{second.id}/role", {"roles": "owner"})
    assert owner.send(f"{USERS}/{owner.id}/role", {"roles": "buyer"}).status_code == 303
    assert owner.get(USERS).status_code == 403


def test_users_of_others_do_not_exist(shop: Service, owner: Person) -> None:
    other = customer_user(shop, shop.customer().id)
    for step in ("role", "disable"):
        assert owner.get(f"{USERS}/{other.id}/{step}").status_code == 404
        assert owner.send(f"{USERS}/{other.id}/{step}", {"roles": "buyer"}).status_code == 404


def test_only_owners_see_users(shop: Service, customer: Customer) -> None:
    for role in ("buyer", "accounts", "developer"):
        person = customer_user(shop, customer.id, role)
        assert person.get(USERS).status_code == 403
        assert person.send(f"{USERS}/invite", {"email": "me@example.com", "roles": "owner"}).status_code == 403
