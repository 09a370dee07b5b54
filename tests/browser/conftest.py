"""Tests in a real Chromium; they are slow, so only `make browser` runs them."""

import os

collect_ignore_glob = [] if os.environ.get("IN_BROWSER") else ["test_*.py"]
