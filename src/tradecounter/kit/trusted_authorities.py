"""The certificate authorities that this machine trusts, and clients for the addresses of the operator's settings."""

import ssl
from functools import cache
from urllib.parse import urlsplit

import httpx2


@cache
def trusted_authorities() -> ssl.SSLContext:
    """Return what checks the certificates of servers; do not change it, because all clients of the process share it."""
    # Loading the certificates takes tens of milliseconds, which would delay all requests.
    return httpx2.create_ssl_context()


def http_client(url: str, seconds: float) -> httpx2.AsyncClient:
    """Return a client for an address that the operator has set; only https goes through the environment's proxy."""
    return httpx2.AsyncClient(timeout=seconds, trust_env=urlsplit(url).scheme == "https", verify=trusted_authorities())
