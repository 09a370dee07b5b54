"""Serves the metrics to Prometheus, on a port of their own and from a thread of its own."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from socket import AF_INET, AF_INET6
from socketserver import TCPServer, ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from tradecounter.kit.errors import OperatorError
from tradecounter.kit.telemetry import BOUNDS
from tradecounter.monitoring.metrics import METRICS, PREFIX, Figures, Labels
from tradecounter.monitoring.metrics import Metric as OwnMetric

_LIMITS = (*map(str, BOUNDS), "+Inf")


class _Figures(Collector):
    """Reads the figures when Prometheus asks for them."""

    def __init__(self, read: Callable[[], Figures]) -> None:
        self._read = read

    def collect(self) -> Iterable[Metric]:
        """Return the metrics that have values."""
        figures = self._read()
        return [_family(metric, figures[metric.name]) for metric in METRICS if metric.name in figures]

    def describe(self) -> Iterable[Metric]:
        """Return nothing: the registry would otherwise read the figures to learn the names."""
        return ()


def _family(metric: OwnMetric, series: dict[Labels, list[float]]) -> Metric:
    name = PREFIX + metric.name
    if metric.kind == "histogram":
        histogram = HistogramMetricFamily(name, metric.meaning, labels=metric.labels)
        for labels, (*counts, seconds) in series.items():
            histogram.add_metric(labels, list(zip(_LIMITS, accumulate(counts), strict=True)), seconds)
        return histogram
    kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    family = kind(name, metric.meaning, labels=metric.labels)
    for labels, (value,) in series.items():
        family.add_metric(labels, value)
    return family


class _Server(ThreadingMixIn, WSGIServer):
    """A thread for each connection; the threads do not keep the process running."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[WSGIRequestHandler]) -> None:
        self.address_family = AF_INET6 if ":" in address[0] else AF_INET
        super().__init__(address, handler)

    def server_bind(self) -> None:
        """Bind the address, without the search for its name that the base class begins: it may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()


class _Handler(WSGIRequestHandler):
    timeout = 10  # seconds for a request to arrive

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name in the base class
        """Log nothing: Prometheus asks several times a minute."""


@contextmanager
def metrics_served(host: str, port: int, read: Callable[[], Figures]) -> Iterator[str]:
    """Serve the figures that `read` returns while the block runs; yield the URL.

    `read` is called in other threads. Port 0 is any free port. Raises OperatorError.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(read))
    try:
        server = _Server((host, port), _Handler)
    except OSError as error:
        raise OperatorError(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another --metrics-port"
        ) from error
    server.set_app(make_wsgi_app(registry))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
