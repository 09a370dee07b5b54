"""Tradecounter: the ordering API of a telecoms-hardware reseller."""

import sys

# structlog imports rich to colour tracebacks. Our logs are JSON, and processes start sooner without it.
if "rich" not in sys.modules:
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]
