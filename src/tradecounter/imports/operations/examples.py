"""Examples of imports, for the interface document."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from msgspec.structs import asdict

from tradecounter.bulk.differences import Change
from tradecounter.bulk.price_figures import GuardedPrice
from tradecounter.bulk.rows import LineMessage
from tradecounter.edge.operations.subject import Described
from tradecounter.imports.change_prices import ForcedPriceChange
from tradecounter.imports.operations.wire import ReadFile, Report
from tradecounter.imports.queries import ImportRecord
from tradecounter.imports.roll_back import RolledBackImport

_AT = datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC)
_FILE = ReadFile("CSV", "utf-8", ",", None, [])

REPORT = Report(
    id=12,
    added=0,
    deactivated=0,
    skipped=0,
    errors=[],
    warnings=[],
    changed=1,
    unchanged=239,
    file=_FILE,
    diff=[Change(7, "CV-320P", "changed", {"available": 114}, {"available": 120})],
    diff_more=False,
)
PARTIAL = Report(
    id=14,
    added=0,
    changed=1,
    unchanged=238,
    deactivated=0,
    skipped=1,
    errors=[LineMessage(7, "sku: product 'CV-32' does not exist")],
    warnings=[],
    file=_FILE,
)
WRONG = Report(
    id=None,
    added=0,
    changed=0,
    unchanged=0,
    deactivated=0,
    skipped=0,
    warnings=[],
    errors=[LineMessage(7, "sku: product 'CV-32' does not exist")],
    file=_FILE,
)
PRICES = Report(
    id=13,
    added=0,
    changed=241,
    unchanged=12,
    deactivated=0,
    skipped=0,
    errors=[],
    warnings=[],
    file=_FILE,
    raised=240,
    lowered=1,
    largest_rise=Decimal("3.50"),
    largest_fall=Decimal("-90.00"),
    customers=18,
    new_price_lists=[],
    below_cost=1,
    guarded=1,
    guarded_prices=[
        GuardedPrice(
            line=7,
            price_list="default",
            sku="CV-320P",
            field="single_unit_cost",
            before=Decimal("79.90"),
            after=Decimal("7.99"),
            why="is below its purchase cost of £51.20",
        )
    ],
)
_IMPORT = ImportRecord(
    id=12,
    kind="stock",
    at=_AT,
    by="ERP (sam@reseller.example)",
    added=0,
    changed=1,
    unchanged=239,
    deactivated=0,
    rolled_back_at=None,
    raised=None,
    lowered=None,
    largest_rise=None,
    largest_fall=None,
    customers=None,
)
_ROLLED_BACK = RolledBackImport(
    **{**asdict(_IMPORT), "rolled_back_at": _AT + timedelta(hours=1)}, restored=1, overwritten=["CV-320P"], kept=[]
)

DESCRIBED: Mapping[type, Described] = {
    ImportRecord: Described("The import.", _IMPORT),
    RolledBackImport: Described("The import after its roll-back.", _ROLLED_BACK, "RolledBack"),
}

_RULE = ForcedPriceChange(manufacturer="corvane", raise_percent=Decimal(5), rounding="ninety_nine")
OF_RULES: Mapping[type, Described] = {
    ForcedPriceChange: Described("The rule.", _RULE),
    Report: Described("The report of the import.", PRICES, "Prices"),
}
