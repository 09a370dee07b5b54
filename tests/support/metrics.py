"""What Prometheus reads from a metrics port."""

import httpx2
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families


def scraped(url: str) -> list[Metric]:
    """The metrics at a URL, in the text that Prometheus reads."""
    response = httpx2.get(url, trust_env=False)
    assert response.status_code == 200, response.text
    return list(text_string_to_metric_families(response.text))


def value(url: str, name: str, **labels: str) -> float:
    """The sum of a metric's series that have some labels; 0 without a series."""
    found = [sample for metric in scraped(url) for sample in metric.samples if sample.name == name]
    return sum(sample.value for sample in found if labels.items() <= sample.labels.items())
