"""The product's command line without the counts of reads in the request log: what they cost is the difference.

Only benchmarks run this; the product has no such setting.
"""

from typing import Any

from tradecounter.request_log.recorder import RequestRecorder
from tradecounter.sites.command_line import run


def _nothing(*_values: Any) -> None:
    pass


def main() -> None:
    """Run the command line."""
    RequestRecorder.add_read = _nothing  # type: ignore[assignment, method-assign]
    run()


if __name__ == "__main__":
    main()
