"""The figures of a process that serves a site."""

import math

from tradecounter.monitoring.metrics import Figures, one
from tradecounter.monitoring.process_figures import process_figures
from tradecounter.sites.http.site import Site


def site_figures(site: Site) -> Figures:
    """Return the current figures; may be called in any thread."""
    figures: Figures = {
        **process_figures(site.name, site.database),
        **site.requests.figures(),
        "client_connections": one(len(site.connections)),
        "database_away_seconds": one(site.refresher.away_seconds),
        "refresh_duration_seconds": {(): site.refresher.durations.values},
        "refresh_failures": one(site.refresher.failures),
        "snapshot_products": one(len(site.storefront.snapshot)),
        "replica_reads": one(site.catalogue_source.replica_use.used),
        "replica_failures": one(site.catalogue_source.replica_use.unusable),
        "blocked_addresses": one(site.admission.lockout.blocked),
        "address_blocks": one(site.admission.lockout.blocks),
    }
    if math.isfinite(site.freshness.age):
        figures["data_age_seconds"] = one(site.freshness.age)
    if site.response_cache is not None:
        figures["response_cache_bytes"] = one(site.response_cache.size)
        figures["response_cache_responses"] = one(len(site.response_cache))
    return figures
