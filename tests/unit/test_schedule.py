"""When scheduled jobs are queued, also after the machine's clock was set and after it was asleep."""

from procrastinate import App
from procrastinate.testing import InMemoryConnector

from tradecounter.sites.worker import Schedule

NOON = 1_781_611_200  # 16 June 2026, 12:00 UTC
MINUTE, HOUR = 60, 3_600


def queued_at(*moments: int) -> list[list[int]]:
    """The runs of a job of each minute that are queued at each moment; all times are seconds from noon."""
    schedule, app = Schedule(), App(connector=InMemoryConnector())

    @app.task(name="each_minute", pass_context=False)
    def each_minute(timestamp: int) -> None: ...

    schedule.registry.register_task(each_minute, cron="* * * * *", periodic_id="", configure_kwargs={})
    return [[run - NOON for _, run in schedule.get_previous_tasks(NOON + moment)] for moment in moments]


def test_each_run_is_queued_once() -> None:
    assert queued_at(1, 30, 61, 130, 310) == [[0], [], [60], [120], [180, 240, 300]]


def test_a_clock_that_is_set_back_delays_no_run() -> None:
    assert queued_at(1, 1 - HOUR, 61 - HOUR) == [[0], [-HOUR], [MINUTE - HOUR]]


def test_a_machine_that_was_asleep_makes_up_for_one_run() -> None:
    assert queued_at(1, 48 * HOUR + 1) == [[0], [48 * HOUR]]
