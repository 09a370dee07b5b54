"""The product's command line without events and audit: what they cost is the difference.

Recording is replaced before the use cases import it. Only benchmarks run this; the product has no such setting.
"""

from typing import Any

from tradecounter.audit import record as audit_log
from tradecounter.events import record as event_log


def _nothing(*_values: Any, **_more: Any) -> None:
    pass


def main() -> None:
    """Run the command line."""
    audit_log.audit = event_log.record_event = event_log.record_events = _nothing
    # Imported now, with the replaced functions; then replaced itself, since it only prepares what they would record.
    from tradecounter.orders import history  # noqa: PLC0415

    history.audit_order = history.record_order_event = _nothing
    from tradecounter.sites.command_line import run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    main()
