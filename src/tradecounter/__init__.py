"""Tradecounter: the ordering API of a telecoms-hardware reseller."""

import sys

# Logs are JSON. structlog imports rich to colour tracebacks, if it is there: an eighth of the time in which a process
# starts.
if "rich" not in sys.modules:
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]
