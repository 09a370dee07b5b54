"""The last administrator stays, also when two disable each other at the same moment."""

from functools import partial

import pytest

from support.orders import in_parallel
from support.people import SECRET, Someone, staff_member
from support.service import Service
from tradecounter.access.queries.people import find_staff_member, list_staff
from tradecounter.access.staff import disable_staff_member, edit_staff_member, reset_staff_member
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.kit.actor import Actor
from tradecounter.kit.errors import DomainError, Kind


def _actor(member: Someone) -> Actor:
    found = member.service.in_transaction(lambda tx: find_staff_member(tx, member.email))
    assert found is not None
    return Actor("staff", found.email, found.id)


def _disable(actor: Actor, member: Someone) -> Kind | None:
    """The kind of error that the actor gets for disabling a member; None for success."""

    async def work() -> None:
        async with transaction(member.service.commands, actor) as tx:
            await disable_staff_member(tx, member.email, member.service.clock.now())

    try:
        member.service.call(work)
    except DomainError as error:
        return error.kind
    return None


def _administrators(service: Service) -> int:
    staff = service.in_transaction(list_staff)
    return sum("administrator" in member.roles and member.disabled_at is None for member in staff)


@pytest.mark.sweep
def test_of_two_administrators_who_disable_each_other_one_stays(own_service: Service) -> None:
    for _ in range(10):
        first, second = (staff_member(own_service, "administrator") for _ in range(2))
        for other in own_service.in_transaction(list_staff):
            if other.email not in {first.email, second.email} and other.disabled_at is None:
                own_service.in_transaction(
                    lambda tx, email=other.email: disable_staff_member(tx, email, own_service.clock.now())  # type: ignore[misc]
                )
        found = in_parallel([partial(_disable, _actor(first), second), partial(_disable, _actor(second), first)])
        assert sorted(found, key=str) == [Kind.CONFLICT, None]
        assert _administrators(own_service) == 1


def test_the_last_administrator_cannot_be_disabled_or_changed_and_resets_itself_only_by_the_command_line(
    own_service: Service,
) -> None:
    ada, now = staff_member(own_service, "administrator"), own_service.clock.now()
    actor = _actor(ada)

    async def reset(tx: Transaction) -> None:
        tx.actor = actor
        await reset_staff_member(tx, ada.email, SECRET, now)

    for step in (
        lambda tx: disable_staff_member(tx, ada.email, now),
        lambda tx: edit_staff_member(tx, ada.email, None, ["support"], now),
        reset,
    ):
        with pytest.raises(DomainError, match="is the last administrator: add another one first") as raised:
            own_service.in_transaction(step)
        assert raised.value.kind is Kind.CONFLICT
    assert ada.kind_of_error() is None
    own_service.in_transaction(lambda tx: reset_staff_member(tx, ada.email, SECRET, now))
    assert ada.kind_of_error() is Kind.UNAUTHENTICATED
    staff_member(own_service, "administrator")
    own_service.in_transaction(reset)
