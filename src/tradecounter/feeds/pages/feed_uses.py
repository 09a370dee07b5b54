"""How to use a feed in each program."""

from collections.abc import Iterable, Sequence

from tradecounter.docs_pages.guide import Sample
from tradecounter.feeds.render import PRICES
from tradecounter.products.snapshot.fragments import AVAILABILITY, COSTS, MIDDLE

_AMOUNT_COLUMNS = {*PRICES, *COSTS, *MIDDLE}
_NUMBER_COLUMNS = {"weight_kg", "box_width_mm", "box_height_mm", "box_length_mm"}


def feed_address(base_url: str, secret: str) -> str:
    """Return the address of a feed."""
    return f"{base_url}/feed/{secret}.csv"


def feed_uses(address: str, columns: Iterable[Sequence[str]]) -> list[Sample]:
    """Return how to use a feed in each program."""
    return [
        Sample(
            "Excel",
            "text",
            _power_query(address, columns),
            "Data, Get Data, From Other Sources, Blank Query, Advanced Editor: replace the text with this query. When "
            "Excel asks how to connect, choose Anonymous. SKUs and EANs stay texts, with their leading zeros.",
        ),
        Sample(
            "Google Sheets",
            "text",
            f'=IMPORTDATA("{address}")',
            "In cell A1 of an empty sheet whose locale is the United Kingdom (File, Settings). Google reads it again "
            "about every hour. It takes SKUs such as 0417723 for numbers; the script in the guide does not.",
        ),
        Sample(
            "WooCommerce",
            "bash",
            f'curl -sS --fail-with-body -o products.csv "{address}"',
            "Download the file, then choose it under Products, Import, and tick “Update existing products”: "
            "products are found by their SKU. Plugins that import on a schedule take the address itself.",
        ),
    ]


def _power_query(address: str, columns: Iterable[Sequence[str]]) -> str:
    typed = [(heading, _power_query_type(name)) for name, heading in columns if _power_query_type(name)]
    lines = [f"            {{{_quoted_text(heading)}, {kind}}}" for heading, kind in typed]
    start = f"""let
    Lines = Csv.Document(
        Web.Contents({_quoted_text(address)}, [Timeout = #duration(0, 0, 2, 0)]),
        [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]
    ),
    Named = Table.PromoteHeaders(Lines, [PromoteAllScalars = true])"""
    if not lines:
        return start + "\nin\n    Named"
    types = ",\n".join(lines)
    return (
        start
        + f""",
    Typed = Table.TransformColumnTypes(
        Named,
        {{
{types}
        }},
        "en-GB"
    )
in
    Typed"""
    )


def _power_query_type(name: str) -> str:
    """Return the type of a column in Power Query; empty for text, which all columns are at first."""
    if name in _AMOUNT_COLUMNS:
        return "Currency.Type"
    if name == AVAILABILITY[0]:
        return "Int64.Type"
    if name == "clearance_product":
        return "type logical"
    return "type number" if name in _NUMBER_COLUMNS else ""


def _quoted_text(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
