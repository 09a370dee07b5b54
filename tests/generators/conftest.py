"""Tests of clients that openapi-generator makes; `tests/conftest.py` reports when languages are left out."""

from support.openapi_generator import LANGUAGES, missing_tools

collect_ignore_glob = [] if missing_tools().keys() < LANGUAGES.keys() else ["test_*.py"]
