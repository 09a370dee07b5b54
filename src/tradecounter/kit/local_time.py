"""UK local time, which the wire speaks; inside, moments are aware and in UTC (specification, section 1)."""

from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

UK = ZoneInfo("Europe/London")


def local_text(moment: datetime) -> str:
    """Return a moment as LocalDateTime, `yyyy-MM-ddTHH:mm:ss` in UK time without an offset."""
    return moment.astimezone(UK).replace(tzinfo=None).isoformat(timespec="seconds")


def uk_date(moment: datetime) -> date:
    """Return the UK calendar date of a moment."""
    return moment.astimezone(UK).date()


def uk_time_of_day(moment: datetime) -> time:
    """Return the UK wall-clock time of a moment."""
    return moment.astimezone(UK).time()


def at_uk_time(day: date, wall_clock: time) -> datetime:
    """Return the moment, in UTC, at which UK clocks show a time on a day."""
    return datetime.combine(day, wall_clock, tzinfo=UK).astimezone(UTC)
