"""Tests of the service behind a real HAProxy and a real nginx; `tests/conftest.py` reports when they are left out."""

from support.front_proxies import missing_packages

collect_ignore_glob = ["test_*.py"] if missing_packages() else []
