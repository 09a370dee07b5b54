"""`tradecounter backoffice`: the reseller's own site."""

from tradecounter.edge.command_line.output import AsJson
from tradecounter.sites.back_office import BackOffice
from tradecounter.sites.commands.service import Host, Metrics, MetricsHost, MetricsPort, Port, ready, serve_site


def backoffice(
    host: Host = "127.0.0.1",
    port: Port = 8001,
    metrics_host: MetricsHost = "127.0.0.1",
    metrics_port: MetricsPort = None,
    as_json: AsJson = False,
) -> None:
    """Serve the back office: the pages of the staff, and the reseller's own API."""
    metrics = Metrics(metrics_host, metrics_port)
    with ready(BackOffice, host, port) as (settings, url, listener):
        serve_site(BackOffice, settings, url, listener, metrics, as_json=as_json)
