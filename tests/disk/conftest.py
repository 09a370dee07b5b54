"""Tests of a database whose disk is full; `tests/conftest.py` reports when they are left out."""

from support.small_disk import can_mount

collect_ignore_glob = [] if can_mount() else ["test_*.py"]
