"""`tradecounter settings`."""

from tradecounter.edge.command_line.output import AsJson, ColumnNames, Prose, show_table
from tradecounter.edge.command_line.session import reporting_errors
from tradecounter.settings import describe, read_settings


def show_settings(columns: ColumnNames = None, as_json: AsJson = False) -> None:
    """List all settings with their values and descriptions."""
    with reporting_errors():
        rows = describe(read_settings())
    show_table(rows, ("name", Prose("value", 20), Prose("meaning", 40)), as_json=as_json, names=columns)
