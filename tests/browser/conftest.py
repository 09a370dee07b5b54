"""Tests in a real Chromium, which `make browser` runs: they take longer than all others of their kind."""

import os

collect_ignore_glob = [] if os.environ.get("IN_BROWSER") else ["test_*.py"]
