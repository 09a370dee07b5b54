"""Examples of imports, for the interface document."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import asdict

from tradecounter.backoffice.import_wire import ReadFile, Report
from tradecounter.bulk.differences import Change
from tradecounter.bulk.rows import LineMessage
from tradecounter.imports.queries import ImportRecord
from tradecounter.imports.roll_back import RolledBackImport

_AT = datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC)
_FILE = ReadFile("CSV", "utf-8", ",", None, [])

REPORT = Report(
    id=12,
    added=0,
    deactivated=0,
    errors=[],
    warnings=[],
    changed=1,
    unchanged=239,
    file=_FILE,
    diff=[Change(7, "CV-320P", "changed", {"available": 114}, {"available": 120})],
    diff_more=False,
)
WRONG = Report(
    id=None,
    added=0,
    changed=0,
    unchanged=0,
    deactivated=0,
    warnings=[],
    errors=[LineMessage(7, "sku: product 'CV-32' does not exist")],
    file=_FILE,
)
IMPORT = ImportRecord(
    id=12,
    kind="stock",
    at=_AT,
    by="ERP (sam@reseller.example)",
    added=0,
    changed=1,
    unchanged=239,
    deactivated=0,
    rolled_back_at=None,
)
ROLLED_BACK = RolledBackImport(
    **{**asdict(IMPORT), "rolled_back_at": _AT + timedelta(hours=1)}, restored=1, overwritten=["CV-320P"], kept=[]
)
