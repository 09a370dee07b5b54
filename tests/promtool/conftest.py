"""Tests with Prometheus' own `promtool`; `tests/conftest.py` reports when they are left out."""

from support.observability import promtool

collect_ignore_glob = ["test_*.py"] if promtool() is None else []
