"""Users who are invited again after they were disabled."""

import pytest

from support.people import SECRET, choose_password, customer_user, disable
from support.service import Service
from tradecounter.access.links import link_token
from tradecounter.access.queries.people import set_rights
from tradecounter.access.users import invite_user
from tradecounter.db.transaction import Transaction
from tradecounter.edge.permissions import UserRole
from tradecounter.kit.errors import DomainError, Kind


def test_a_disabled_user_who_is_invited_again_needs_a_new_password(service: Service) -> None:
    customer_id, now = service.customer().id, service.clock.now()
    user = customer_user(service, customer_id)
    disable(service, user.email)
    _, link_id = service.in_transaction(lambda tx: invite_user(tx, customer_id, user.email, "buyer", SECRET, now))
    assert user.kind_of_error() is Kind.UNAUTHENTICATED
    choose_password(service, "account", link_token(SECRET, link_id), "another good password")
    assert user.kind_of_error("another good password") is None


def test_an_invitation_of_an_enabled_user_keeps_its_password(service: Service) -> None:
    customer_id, now = service.customer().id, service.clock.now()
    user = customer_user(service, customer_id)
    service.in_transaction(lambda tx: invite_user(tx, customer_id, user.email, "accounts", SECRET, now))
    assert user.kind_of_error() is None


def test_an_invitation_of_an_enabled_user_changes_its_first_role_and_keeps_the_others(service: Service) -> None:
    customer_id, now = service.customer().id, service.clock.now()

    async def roles_after(tx: Transaction, role: UserRole) -> tuple[UserRole, ...]:
        user, _ = await invite_user(tx, customer_id, "ada.twice@shop.example", role, SECRET, now)
        await set_rights(tx, user.id, list(dict.fromkeys((*user.roles, "accounts"))), None)
        return tuple(user.roles)

    assert service.in_transaction(lambda tx: roles_after(tx, "buyer")) == ("buyer",)
    assert service.in_transaction(lambda tx: roles_after(tx, "developer")) == ("developer", "accounts")
    assert service.in_transaction(lambda tx: roles_after(tx, "accounts")) == ("accounts",)
    disable(service, "ada.twice@shop.example")
    assert service.in_transaction(lambda tx: roles_after(tx, "buyer")) == ("buyer",)


def test_the_last_owner_cannot_be_invited_with_another_role(service: Service) -> None:
    customer_id, now = service.customer(email_address="only.owner@shop.example").id, service.clock.now()
    invite = lambda tx: invite_user(tx, customer_id, "Only.Owner@shop.example", "buyer", SECRET, now)  # noqa: E731
    with pytest.raises(DomainError, match="is the only owner: make another user an owner first") as raised:
        service.in_transaction(invite)
    assert raised.value.kind is Kind.CONFLICT
    customer_user(service, customer_id)
    user, _ = service.in_transaction(invite)
    assert list(user.roles) == ["buyer"]
