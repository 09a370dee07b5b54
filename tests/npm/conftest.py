"""Tests of the interface document with tools from npm; `tests/conftest.py` says when they are left out."""

from support.node_packages import installed

collect_ignore_glob = [] if installed() else ["test_*.py"]
