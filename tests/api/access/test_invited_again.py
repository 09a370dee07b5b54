"""Users who are invited again after they were disabled."""

from support.people import SECRET, choose_password, customer_user
from support.service import Service
from tradecounter.access.links import link_token
from tradecounter.access.users import disable_user, invite_user
from tradecounter.kit.errors import Kind


def test_a_disabled_user_who_is_invited_again_needs_a_new_password(service: Service) -> None:
    customer_id, now = service.customer().id, service.clock.now()
    user = customer_user(service, customer_id)
    service.in_transaction(lambda tx: disable_user(tx, user.email, now))
    _, link_id = service.in_transaction(lambda tx: invite_user(tx, customer_id, user.email, "buyer", SECRET, now))
    assert user.kind_of_error() is Kind.UNAUTHENTICATED
    choose_password(service, "account", link_token(SECRET, link_id), "another good password")
    assert user.kind_of_error("another good password") is None


def test_an_invitation_of_an_enabled_user_keeps_its_password(service: Service) -> None:
    customer_id, now = service.customer().id, service.clock.now()
    user = customer_user(service, customer_id)
    service.in_transaction(lambda tx: invite_user(tx, customer_id, user.email, "accounts", SECRET, now))
    assert user.kind_of_error() is None
