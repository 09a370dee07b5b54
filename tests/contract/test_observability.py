"""The dashboard, the alerts and the operators' guide name the metrics that the service has."""

import asyncio
from collections.abc import Iterator

import pytest

from support.guide import operators_guide, operators_page
from support.metrics import scraped, value
from support.observability import DASHBOARDS, alerts, expressions, metrics_of_the_cluster, panels, used_metrics
from support.service import Service
from support.shop import order
from tradecounter.db.transaction import reading
from tradecounter.edge.server.request_figures import OWN_REASONS, REASONS
from tradecounter.events.sequencer import number_all
from tradecounter.jobs.watch import Backlog
from tradecounter.kit.telemetry import BOUNDS
from tradecounter.monitoring.listener import metrics_served
from tradecounter.monitoring.metrics import METRICS, Figures, combined
from tradecounter.sites.http.site import site_figures

GUIDE = operators_guide()
OF_PROMETHEUS = {"job", "instance", "le"}


@pytest.fixture(scope="module")
def metrics(shop: Service) -> Iterator[str]:
    """The metrics of a site and of a worker, after an order."""
    backlog = Backlog(silent_seconds=20)

    def read() -> Figures:
        return combined([site_figures(shop.application), backlog.figures()])

    async def work() -> None:
        for _ in range(2):  # the first reading says where the log ends
            await number_all(shop.commands)
            async with reading(shop.commands) as tx:
                await backlog.read(tx)
            await asyncio.to_thread(lambda: customer.post("/order", order()))

    customer = shop.customer()
    shop.refresh()
    shop.call(work)
    with metrics_served("127.0.0.1", 0, read) as url:
        yield url


def test_every_metric_is_served_with_its_kind_and_its_meaning(metrics: str) -> None:
    found = {metric.name: metric for metric in scraped(metrics)}
    assert {f"tradecounter_{metric.name}" for metric in METRICS} == set(found)
    for metric in METRICS:
        assert (found[f"tradecounter_{metric.name}"].type, metric.meaning) == (
            metric.kind,
            found[f"tradecounter_{metric.name}"].documentation,
        )


def test_series_have_the_labels_of_their_metric(metrics: str) -> None:
    labels = {f"tradecounter_{metric.name}": set(metric.labels) for metric in METRICS}
    for metric in scraped(metrics):
        for sample in metric.samples:
            assert set(sample.labels) - {"le"} == labels[metric.name], sample


def test_events_are_counted_by_type_from_the_workers_start_on(metrics: str) -> None:
    assert value(metrics, "tradecounter_events_total", type="order.created") == 1
    assert value(metrics, "tradecounter_events_total", type="log.restored") == 0


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize("place", expressions())
def test_expressions_use_metrics_and_labels_that_exist(place: str) -> None:
    labels = {}
    for metric in METRICS:
        endings = ("_bucket", "_sum", "_count") if metric.kind == "histogram" else ("",)
        labels.update({metric.full_name + ending: set(metric.labels) | OF_PROMETHEUS for ending in endings})
    expression = expressions()[place]
    used = used_metrics(expression)
    assert used or "up{" in expression or any(name in expression for name in metrics_of_the_cluster())
    for name, selected in used.items():
        assert selected <= labels[name]


def test_every_metric_is_on_the_dashboard_or_in_an_alert() -> None:
    used = {name.removesuffix("_bucket") for text in expressions().values() for name in used_metrics(text)}
    assert {metric.full_name for metric in METRICS} == used


def test_selected_reasons_and_ways_exist() -> None:
    reasons = {*REASONS.values(), *OWN_REASONS}
    texts = "|".join(expressions().values())
    selected = set(texts.split('reason=~"')[1].split('"')[0].split("|")) | {"failure", "credit", "rate_limit"}
    assert selected <= reasons


def test_limits_of_alerts_on_durations_are_bounds_of_buckets() -> None:
    assert 1.0 in BOUNDS
    assert alerts()["TradecounterSlow"]["expr"].endswith("> 1")


def test_the_guide_explains_every_metric() -> None:
    for metric in METRICS:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        assert f"| `{metric.full_name}` | {metric.kind} | {labels} | {metric.meaning} |" in GUIDE
    assert GUIDE.count("| `tradecounter_") == len(METRICS)


def test_the_guide_explains_every_reason() -> None:
    listed = GUIDE.split("The reasons of `tradecounter_rejections_total` are ")[1].split(" and `other`")[0]
    assert listed.replace("`", "").split(", ") == sorted({*REASONS.values(), *OWN_REASONS})


def test_the_guide_says_what_to_do_about_every_alert() -> None:
    section = operators_page("watch").split("## Alerts")[1].split("\n#")[0]
    rows = [line.split("|")[1].strip(" `") for line in section.splitlines() if line.startswith("| `")]
    assert rows == list(alerts())


@pytest.mark.parametrize("dashboard", DASHBOARDS)
def test_every_panel_has_a_title_of_its_own_and_a_place_of_its_own(dashboard: str) -> None:
    titles = [panel["title"] for panel in panels(dashboard)]
    assert len(set(titles)) == len(titles)
    taken: set[tuple[int, int]] = set()
    for panel in panels(dashboard):
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken
        assert place["x"] + place["w"] <= 24
        taken |= cells
