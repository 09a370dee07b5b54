"""When sessions end by themselves."""

from datetime import timedelta

import pytest

from support.people import customer_user, staff_member
from support.service import Service
from tradecounter.access.jobs import clean_up_access
from tradecounter.access.queries.sign_ins import end_session, end_sessions_of
from tradecounter.access.sessions import list_sessions
from tradecounter.db.jobs import jobs_after
from tradecounter.edge.people import Site

MINUTE = timedelta(minutes=1)


@pytest.mark.sweep
@pytest.mark.parametrize(("site", "hours"), [("staff", 8), ("account", 12)])
def test_a_session_ends_when_it_is_idle_too_long(own_service: Service, site: Site, hours: int) -> None:
    who = staff_member(own_service) if site == "staff" else customer_user(own_service)
    cookie, idle = who.sign_in().cookie, timedelta(hours=hours)
    own_service.clock.advance(idle - MINUTE)
    assert who.session(cookie) is not None
    own_service.clock.advance(idle - MINUTE)
    assert who.session(cookie) is not None, "the last request counts"
    own_service.clock.advance(idle)
    assert who.session(cookie) is None


def test_a_session_ends_after_thirty_days_however_much_it_is_used(own_service: Service) -> None:
    who = staff_member(own_service)
    cookie = who.sign_in().cookie
    for _ in range(30 * 4 - 1):
        own_service.clock.advance(timedelta(hours=6))
        assert who.session(cookie) is not None
    own_service.clock.advance(timedelta(hours=6))
    assert who.session(cookie) is None


def test_the_last_use_is_written_once_a_minute(own_service: Service) -> None:
    who = staff_member(own_service)
    cookie = who.sign_in().cookie
    seen = []
    for _ in range(4):
        own_service.clock.advance(timedelta(seconds=20))
        who.session(cookie)
        found = who.session(cookie)
        assert found is not None
        seen.append(found.seen_at - found.created_at)
    assert seen == [timedelta(0), timedelta(0), MINUTE, MINUTE]


@pytest.mark.sweep
def test_a_session_is_ended_alone_or_with_all_others(own_service: Service) -> None:
    who, someone_else = staff_member(own_service), staff_member(own_service)
    cookies = [who.sign_in().cookie for _ in range(4)]
    foreign = someone_else.sign_in().cookie
    sessions = [who.session(cookie) for cookie in cookies]
    ids = [session.id for session in sessions if session is not None]
    person, now = who.person, own_service.clock.now()
    own_service.in_transaction(lambda tx: end_session(tx, ids[0], now))
    assert own_service.in_transaction(lambda tx: end_sessions_of(tx, "staff", person.id, now, but=ids[2])) == 2
    assert [who.session(cookie) is not None for cookie in cookies] == [False, False, True, False]
    assert someone_else.session(foreign) is not None
    listed = own_service.in_transaction(lambda tx: list_sessions(tx, "staff", person.id, now))
    assert [session.id for session in listed] == [ids[2]]


def test_a_cookie_of_one_site_opens_nothing_at_the_other(own_service: Service) -> None:
    who = staff_member(own_service)
    cookie = who.sign_in().cookie
    who.site = "account"
    assert who.session(cookie) is None


def test_old_sessions_are_deleted_and_open_ones_kept(own_service: Service) -> None:
    who = staff_member(own_service)
    who.sign_in()
    own_service.clock.advance(timedelta(days=31))
    cookie = who.sign_in().cookie
    now = own_service.clock.now()
    assert own_service.in_transaction(lambda tx: clean_up_access(tx, now)) >= 1
    assert own_service.in_transaction(lambda tx: clean_up_access(tx, now)) == 0
    assert who.session(cookie) is not None


@pytest.mark.sweep
def test_a_new_sign_in_in_a_browser_ends_its_former_session(own_service: Service) -> None:
    who = staff_member(own_service)
    cookie, elsewhere = who.sign_in().cookie, who.sign_in().cookie
    who.sign_in(cookie=cookie)
    assert who.session(cookie) is None
    assert who.session(elsewhere) is not None


@pytest.mark.sweep
def test_only_a_sign_in_in_a_new_browser_sends_an_email(own_service: Service) -> None:
    who, other = staff_member(own_service), staff_member(own_service)

    def mailed() -> int:
        jobs = own_service.in_transaction(lambda tx: jobs_after(tx, None, 0, 1000))
        return sum(job.name == "mail_user_browser" for job in jobs)

    mark = who.sign_in().mark
    assert mark is not None
    counts = [mailed()]
    for visitor, shown in ((who, mark), (who, ""), (who, "x" * 65), (other, mark), (other, mark)):
        visitor.sign_in(mark=shown)
        counts.append(mailed())
    assert counts == [1, 1, 2, 3, 4, 4]
