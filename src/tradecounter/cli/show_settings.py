"""`tradecounter settings`."""

from tradecounter.cli.output import AsJson, show_table
from tradecounter.cli.session import refusing
from tradecounter.settings import describe, read_settings


def show_settings(as_json: AsJson = False) -> None:
    """List all settings with their values and meaning."""
    with refusing():
        rows = describe(read_settings())
    show_table(rows, ("name", "value", "meaning"), as_json=as_json)
