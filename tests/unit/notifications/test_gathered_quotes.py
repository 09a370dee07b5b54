"""The quotes that one e-mail lists, and how long the e-mail waits for more."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tradecounter.notifications.rules import GATHERED_FOR, MOST_QUOTES, gathering_left, quotes_to_tell

NOW = datetime(2026, 6, 16, 8, 0, tzinfo=UTC)


@given(st.sets(st.integers(1, 10_000), min_size=1, max_size=3 * MOST_QUOTES), st.data())
def test_a_mail_lists_the_oldest_quotes_and_its_jobs_quote(unsent: set[int], data: st.DataObject) -> None:
    ordered = sorted(unsent)
    about = data.draw(st.sampled_from(ordered))
    told = quotes_to_tell(ordered, about)
    assert about in told
    assert told == sorted(told)
    assert len(told) == min(len(unsent), MOST_QUOTES)
    others = [quote for quote in ordered if quote != about]
    assert [quote for quote in told if quote != about] == others[: len(told) - 1]


@given(st.integers(1, 4 * MOST_QUOTES), st.sets(st.integers(1, 4 * MOST_QUOTES)))
def test_every_quote_with_a_pending_job_is_listed_even_after_failed_mails(count: int, given_up: set[int]) -> None:
    unsent, jobs = list(range(1, count + 1)), [quote for quote in range(1, count + 1) if quote not in given_up]
    for about in jobs:
        if about in unsent:
            told = quotes_to_tell(unsent, about)
            unsent = [quote for quote in unsent if quote not in told]
    assert not set(unsent) & set(jobs)


@given(st.integers(1, 2 * MOST_QUOTES), st.none() | st.integers(-100, 200))
def test_a_mail_waits_for_more_quotes_unless_it_is_the_first_or_full(unsent: int, seconds: int | None) -> None:
    last = None if seconds is None else NOW - timedelta(seconds=seconds)
    left = gathering_left(unsent, last, NOW)
    if last is None or unsent >= MOST_QUOTES or abs(NOW - last) >= GATHERED_FOR:  # the clock may have been set back
        assert left == timedelta(0)
    else:
        assert left == last + GATHERED_FOR - NOW > timedelta(0)
