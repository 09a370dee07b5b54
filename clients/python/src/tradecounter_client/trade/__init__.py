"""`trade`, the command line for customers."""

import sys


def run() -> None:
    """Run the command line; it needs the package's extra `trade`."""
    try:
        import rich  # noqa: F401, PLC0415 tells what is missing
    except ImportError:
        sys.exit("trade: install it with its tables: pip install 'tradecounter-client[trade]'")
    from tradecounter_client.trade.command_line import main  # noqa: PLC0415 needs the extra

    sys.exit(main())
