"""The model of a day: its mix, its costs, its queues, what is used up first, and how a soak is judged."""

from collections import deque
from dataclasses import replace

import pytest

from bench.load_model.costs import API, OFFICE, PARTS, POSTGRES, PROFILES, WORKER, Costs, rendered
from bench.load_model.day import (
    CONFIRM,
    DELIVERED,
    DISPATCH,
    FEED,
    HOURS,
    IMPORTS,
    KINDS,
    LOOK,
    ORDER,
    POLL,
    STOCK,
    STORY,
    WEBHOOK,
    burst_of,
    rates_of,
    rest_of,
)
from bench.load_model.page import PAGE, with_block
from bench.load_model.plan import MOST_USED, READS, busiest, limits, machines_for
from bench.load_model.press import Sample
from bench.load_model.queues import Flushes, Job, Machines, Simulation, Step
from bench.load_model.soak import is_error
from bench.load_model.soak_report import Segment, Soaked, faults_of, growth_of, written

pytestmark = pytest.mark.long

NOTHING = dict.fromkeys(KINDS, 0.0)
MEGABYTE = 1_000_000


def costs(**more: object) -> Costs:
    """Return costs that are easy to reckon with: a millisecond of each part that takes part."""
    kinds = {name: dict.fromkeys(PARTS, 0.0) | {API: 0.001} for name in KINDS}
    for name in STORY[:2]:
        kinds[name][POSTGRES] = 0.001
    for name in (*STORY[2:], *IMPORTS):
        kinds[name] = {API: 0.0, OFFICE: 0.001, WORKER: 0.0, POSTGRES: 0.001}
    kinds[WEBHOOK] = {API: 0.0, OFFICE: 0.0, WORKER: 0.001, POSTGRES: 0.001}
    plain = Costs("now", "here", kinds, dict.fromkeys(PARTS, 0.0), 0.0, 0.0, 0.0, 0.001, 0.001, 5.0, 1000.0)
    return replace(plain, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [name for name in KINDS if name != WEBHOOK])
def test_the_hours_of_a_day_add_up_to_its_requests(name: str) -> None:
    whole = sum(burst_of(hour)[name] * 60 + rest_of(hour)[name] * 3540 for hour in HOURS)
    assert whole == pytest.approx(KINDS[name].daily)
    assert sum(rates_of(hour)[name] * 3600 for hour in HOURS) == pytest.approx(KINDS[name].daily)


def test_the_day_is_that_of_a_national_distributor() -> None:
    assert KINDS[ORDER].daily == 50_000
    assert sum(KINDS[name].daily for name in IMPORTS) == 100
    webhooks = sum(rates_of(hour)[WEBHOOK] * 3600 for hour in HOURS)
    assert webhooks == pytest.approx(KINDS[WEBHOOK].daily) == pytest.approx(50_000 * len(DELIVERED))


def test_few_polls_are_all_rendered_and_many_share_the_pages_of_the_price_profiles() -> None:
    assert rendered(0.01) == pytest.approx(0.01, rel=0.01)
    assert rendered(10_000) == pytest.approx(1_000 + PROFILES)


def test_a_poll_costs_least_while_nothing_changes() -> None:
    model = costs(unchanged=0.0001, view=0.002, render=0.01)
    calm = NOTHING | {POLL: 10.0}
    assert model.of(POLL, calm, 1)[API] == pytest.approx(0.0001)
    busy = model.of(POLL, calm | {CONFIRM: 5.0}, 1)[API]
    assert 0.001 + 0.002 < busy < 0.001 + 0.002 + 0.01
    # With more polls between two changes, more share a rendered page.
    assert model.of(POLL, calm | {POLL: 1000.0, CONFIRM: 5.0}, 1)[API] < busy


def test_each_api_process_reads_what_an_import_has_changed() -> None:
    model = costs()
    model.kinds[STOCK][API] = 0.5
    assert model.of(STOCK, NOTHING, 3)[API] == pytest.approx(1.5)


def test_an_idle_site_uses_what_it_uses_at_rest_and_each_api_process_adds_its_own() -> None:
    at_rest = {API: 0.01, OFFICE: 0.02, WORKER: 0.03, POSTGRES: 0.04}
    assert costs(idle=at_rest).load(NOTHING, 4) == pytest.approx(at_rest | {API: 0.04})


@pytest.mark.parametrize("share", [0.3, 0.6, 0.8])
def test_a_simulated_queue_waits_as_long_as_queueing_theory_says(share: float) -> None:
    # One server, arrivals at random, service times of squared variation 1/4: Pollaczek and Khinchine.
    model = costs()
    rate = share / 0.001
    found = Simulation(model, Machines(1, 1, 1, 1)).run(NOTHING | {LOOK: rate}, 200)
    seconds = found.seconds[LOOK]
    waits = 0.001 * share * (1 + 0.25) / 2 / (1 - share)
    assert sum(seconds) / len(seconds) == pytest.approx(0.001 + waits, rel=0.1)
    assert found.used[f"{API} 0"] == pytest.approx(share, rel=0.05)


def test_what_is_simulated_uses_the_cores_that_are_calculated() -> None:
    model = costs(idle=dict.fromkeys(PARTS, 0.05), swap=0.01)
    rates = burst_of(10, 20)
    found = Simulation(model, Machines(1, 1, 1, 1)).run(rates, 60)
    load = model.load(rates, 1)
    for part, place in ((API, f"{API} 0"), (OFFICE, f"{OFFICE} 0"), (WORKER, f"{WORKER} 0"), (POSTGRES, POSTGRES)):
        assert found.used[place] == pytest.approx(load[part], rel=0.1), part


def test_orders_wait_for_the_log_and_share_its_flushes() -> None:
    model = costs(flush=0.01)
    found = Simulation(model, Machines(4, 1, 1, 4)).run(NOTHING | {ORDER: 400.0}, 20)
    assert found.quantile((ORDER,), 0.5) > 0.01
    assert found.quantile((ORDER,), 0.99) < 0.05  # although 400 flushes of 10 ms do not fit into a second
    assert found.used["flush"] <= 1.001
    assert found.connections >= 4


def test_a_flush_takes_along_what_waits_when_it_begins_and_nothing_later() -> None:
    simulation = Simulation(costs(flush=0.5), Machines(1, 1, 1, 1))
    jobs = [Job(ORDER, 0.0, deque([Step("flush", "flush", 0.0)])) for _ in range(3)]
    simulation.at(0.0, lambda now: simulation.enter(jobs[0], now))
    simulation.at(0.1, lambda now: simulation.enter(jobs[1], now))
    simulation.at(0.2, lambda now: simulation.enter(jobs[2], now))
    found = simulation.run(NOTHING, 1)
    assert found.seconds[ORDER] == pytest.approx([0.5, 1.0, 1.0])
    assert simulation.flushes == Flushes(0.5, busy=1.0)


def test_long_work_gives_way_to_short() -> None:
    model = costs()
    model.kinds[STOCK][OFFICE] = 2.0
    found = Simulation(model, Machines(1, 1, 1, 1)).run(NOTHING | {STOCK: 0.1, DISPATCH: 20.0}, 100)
    assert found.quantile((DISPATCH,), 0.9) < 0.1


def test_feeds_are_rendered_one_at_a_time_and_hold_up_nothing_else() -> None:
    model = costs()
    model.kinds[FEED][API] = 0.2
    found = Simulation(model, Machines(1, 1, 1, 1)).run(NOTHING | {FEED: 4.5, LOOK: 20.0}, 100)
    assert found.quantile((FEED,), 0.5) > 0.4  # nine tenths of the core are used, so they wait for each other
    assert found.quantile((LOOK,), 0.95) < 0.012  # at most for two slices
    assert len(found.seconds[FEED]) > 400


def test_shared_cores_make_all_parts_wait_for_each_other() -> None:
    rates = NOTHING | {LOOK: 900.0, DISPATCH: 450.0}
    alone = Simulation(costs(), Machines(1, 1, 1, 1)).run(rates, 30)
    shared = Simulation(costs(), Machines(1, 1, 1, 1), shared=2).run(rates, 30)
    assert shared.used["cores"] == pytest.approx((0.9 + 0.9) / 2, rel=0.05)
    assert shared.quantile((DISPATCH,), 0.5) > alone.quantile((DISPATCH,), 0.5)


@pytest.mark.parametrize("scale", [1, 10, 100, 1000])
def test_no_core_of_the_machines_for_a_scale_is_used_too_much(scale: int) -> None:
    model = costs(idle=dict.fromkeys(PARTS, 0.01), swap=0.02, render=0.001)
    found = machines_for(model, scale)
    load = model.load(burst_of(busiest(model, scale), scale), found.api)
    assert found.api >= 2
    used = {
        part: load[part] / count
        for part, count in zip(PARTS, (found.api, found.office, found.worker, found.postgres), strict=True)
    }
    assert max(used.values()) <= MOST_USED + 1e-9


def test_the_scarcest_comes_first() -> None:
    model = costs()
    model.kinds[WEBHOOK][WORKER] = 0.5
    first, *rest = limits(model)
    assert first.name == "the core of the worker (1)"
    assert all(first.used >= limit.used for limit in rest)
    assert first.lasts_to == pytest.approx(1 / first.used)


def test_a_block_of_the_page_is_replaced_and_the_text_around_it_stays() -> None:
    page = "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n"
    assert with_block(page, "x", "new\n") == "a\n<!-- x -->\nnew\n<!-- end of x -->\nb\n"
    with pytest.raises(ValueError, match="no marks of 'y'"):
        with_block(page, "y", "new\n")


@pytest.mark.parametrize("name", ["measured", "costs", "hours", "limits", "scales"])
def test_the_page_has_every_block(name: str) -> None:
    with_block(PAGE.read_text(encoding="utf-8"), name, "")


def segment(hour: int = 0, **more: object) -> Segment:
    samples = [Sample(float(n), kind, 0.01) for n in range(100) for kind in (*READS, ORDER)]
    used = dict.fromkeys(PARTS, 0.2)
    return replace(Segment(hour, 1.0, 60.0, samples, used, used, 0.1, 0, 100, NOTHING), **more)  # type: ignore[arg-type]


def soaked(**more: object) -> Soaked:
    memory = [(float(at), {"API 1": 100 * MEGABYTE}) for at in range(90)]
    plain = Soaked(30.0, 1, 10.0, 8.5, [], [segment(hour) for hour in HOURS], memory, 0, [], 0.02, quick=False)
    return replace(plain, **more)  # type: ignore[arg-type]


def test_a_soak_in_which_all_goes_well_has_no_faults() -> None:
    assert faults_of(soaked()) == []


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"segments": [segment(samples=[Sample(0.0, ORDER, 0.1, "order: status 500")])]}, "1 of 1 failed"),
        ({"segments": [segment(samples=[Sample(0.0, ORDER, 1.1)])]}, "the p99 of orders is 1.10 s"),
        ({"segments": [segment(backlog=1000)]}, "1000 webhooks wait"),
        ({"segments": [segment(predicted=dict.fromkeys(PARTS, 0.31))]}, "predicts 1.55 times"),
        ({"segments": [segment(predicted=dict.fromkeys(PARTS, 0.13))]}, "predicts 0.65 times"),
        ({"memory": [(float(at), {"API 1": (100 + at) * MEGABYTE}) for at in range(90)]}, "memory of API 1 grew"),
        ({"undelivered": 3}, "3 webhooks are not delivered"),
        ({"errors": ['{"level":"error"}']}, "the log has 1 errors"),
    ],
)
def test_a_soak_has_a_fault_for_whatever_is_missed(wrong: dict[str, object], fault: str) -> None:
    found = faults_of(soaked(**wrong))
    assert len(found) == 1
    assert fault in found[0]


@pytest.mark.parametrize(
    ("line", "bad"),
    [
        ('{"level":"warning","event":"the mail server is unset"}', False),
        ('{"level":"error","event":"a job failed"}', True),
        ('{"level":"warning","exception":"Traceback"}', True),
        ("Traceback (most recent call last):", True),
        ("", False),
    ],
)
def test_errors_in_the_log_are_found_also_without_a_level(line: str, bad: bool) -> None:
    assert is_error(line) is bad


def test_the_report_names_each_fault_and_has_a_row_for_each_hour_and_process() -> None:
    report = written(soaked(undelivered=3, search=["1.00 of the day: all deadlines kept"]), costs())
    assert "- **faults: 1**" in report
    assert "- 3 webhooks are not delivered at the end" in report
    assert report.count("\n| 13:00 | ") == 1
    assert "| API 1 | 100 MB | 0.00 MB | yes |" in report
    assert "- 1.00 of the day: all deadlines kept" in report
    assert "**Nothing is missed**" in written(soaked(), costs())


def test_memory_that_grows_only_at_the_start_is_flat() -> None:
    points = [(float(at), min(at, 30) * 10.0 * MEGABYTE) for at in range(90)]
    assert growth_of(points).flat
    assert growth_of(points).added == pytest.approx(0, abs=0.1 * MEGABYTE)


def test_growth_is_that_of_the_line_through_all_points_and_not_of_single_ones() -> None:
    points = [(float(at), (200 + at + (80 if at % 9 == 0 else 0)) * MEGABYTE) for at in range(90)]
    assert growth_of(points).added == pytest.approx(59 * MEGABYTE, rel=0.15)
    assert not growth_of(points).flat
