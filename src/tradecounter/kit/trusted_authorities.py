"""The certificate authorities that this machine trusts."""

import ssl
from functools import cache

import httpx2


@cache
def trusted_authorities() -> ssl.SSLContext:
    """Return what checks the certificates of servers; do not change it, because all clients of the process share it."""
    # Loading the certificates takes tens of milliseconds, which would delay all requests.
    return httpx2.create_ssl_context()
