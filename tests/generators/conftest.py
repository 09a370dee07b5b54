"""Tests of clients that openapi-generator makes; `tests/conftest.py` reports when languages are left out."""

from support.openapi_generator import available

collect_ignore_glob = [] if available() else ["test_*.py"]
