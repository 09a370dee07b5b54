"""Tests of the interface document with npm tools; `tests/conftest.py` reports when they are left out."""

from support.node_packages import installed

collect_ignore_glob = [] if installed() else ["test_*.py"]
