"""`/api/import`: files, their history and roll-back; `/api/price-change`: prices that change by a rule."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated

from msgspec import Struct
from msgspec.structs import asdict, replace
from starlette.responses import Response

from tradecounter.bulk.differences import Change
from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.price_figures import GuardedPrice
from tradecounter.db.fair_shares import IMPORTS, act_for
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import POST_HEADERS, ChangeResponse, ChangingParameters, Desk, DryRun
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, ListPage, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import CONFLICT, NOT_FOUND
from tradecounter.edge.rest.headers import IDEMPOTENT_REPLAY
from tradecounter.edge.rest.idempotency import fingerprint_of_upload
from tradecounter.edge.rest.operation import TEXT, ErrorResponse, Media, Operation, Parameter, Success, endpoint
from tradecounter.edge.session import require_token_scope, token_has_scope
from tradecounter.imports.change_prices import ForcedPriceChange, change_prices
from tradecounter.imports.kinds import HISTORY_READERS, IMPORT_KINDS, IMPORTERS, area_of
from tradecounter.imports.queries import ImportRecord, list_imports, lock_import
from tradecounter.imports.run import FORMS, RolledBackImport, import_body, roll_back_import, stored_body
from tradecounter.imports.wire import (
    ImportParameters,
    LineMessage,
    ReadFile,
    Report,
    RollBackParameters,
    present_report,
)
from tradecounter.kit.json_text import to_json
from tradecounter.products.find_products import Catalogue

_AT = datetime(2026, 6, 16, 9, 12, 44, tzinfo=UTC)
_REJECTED_REPORT = Report(
    id=None,
    added=0,
    changed=0,
    unchanged=0,
    deactivated=0,
    skipped=0,
    errors=[LineMessage(7, "sku: product 'CV-32' does not exist")],
    warnings=[],
    file=ReadFile(form="CSV", encoding="utf-8", separator=",", sheet=None, unknown_columns=[]),
)
_PARTIAL_REPORT = replace(_REJECTED_REPORT, id=14, changed=1, unchanged=238, skipped=1)
_REPORT = replace(
    _REJECTED_REPORT,
    id=12,
    changed=1,
    unchanged=239,
    errors=[],
    diff=[Change(line=7, key="CV-320P", change="changed", before={"available": 114}, after={"available": 120})],
    diff_more=False,
)
_PRICE_REPORT = replace(
    _REJECTED_REPORT,
    id=13,
    changed=241,
    unchanged=12,
    errors=[],
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

_IMPORTS_DESCRIBED: Mapping[type, Described] = {
    ImportRecord: Described("The import.", _IMPORT),
    RolledBackImport: Described("The import after its roll-back.", _ROLLED_BACK, "RolledBack"),
}

_RULE = ForcedPriceChange(manufacturer="corvane", raise_percent=Decimal(5), rounding="ninety_nine")
_PRICE_CHANGES_DESCRIBED: Mapping[type, Described] = {
    ForcedPriceChange: Described("The rule.", _RULE),
    Report: Described("The report of the import.", _PRICE_REPORT, "Prices"),
}
_IMPORTS = Subject(tag="Imports", read="catalogue:read", write="catalogue:write", described=_IMPORTS_DESCRIBED)
_OTHERS = ("prices:write", "stock:write", "customers:write")
_UPLOADED = {"type": "string", "format": "binary"}
_OK, _SOME_LINES, _WRONG_LINES = 200, 207, 422

ImportId = Annotated[int, InPath("id", "The import's id.", 12, "import")]


class ImportOperations(Struct, frozen=True):
    """The endpoints of imports."""

    desk: Desk

    @endpoint(
        Operation(
            method="POST",
            path="/api/import/{kind}",
            name="importFile",
            tag="Imports",
            summary="Import a file",
            description=(
                f"The kinds: {', '.join(f'`{kind}`' for kind in IMPORT_KINDS)}. The body is JSON Lines, CSV or XLSX, "
                "by its `Content-Type`, up to 500 MB. All rows are imported, or none; with `partial`, those without "
                "errors are, and the response is a 207 that lists the others in `errors`. `id` names the import in the "
                "history; it is null in a dry run. Kinds of the catalogue and of shipping need `catalogue:write`, "
                "prices `prices:write`, stock and deliveries `stock:write`, customers `customers:write`. Prices "
                "that are lowered by more than half, below `purchase_cost` or to 0, and price lists that neither "
                "have prices nor are any customer's, are a 409 that names them, unless `force` is given; a dry run "
                "shows them. With `partial`, they are errors of their rows."
            ),
            path_parameters=(Parameter("kind", "The kind of the file.", TEXT, "stock"),),
            query=ImportParameters,
            request_headers=POST_HEADERS,
            upload={name: Media(_UPLOADED) for name in FORMS},
            success=Success(
                200,
                "The report.",
                Report,
                {"Report": _REPORT, "Prices": _PRICE_REPORT},
                headers=(IDEMPOTENT_REPLAY,),
            ),
            partial=Success(
                207,
                "The report of a partial import: rows with errors are left out.",
                Report,
                {"Report": _PARTIAL_REPORT},
                headers=(IDEMPOTENT_REPLAY,),
            ),
            errors=(
                NOT_FOUND,
                CONFLICT,
                ErrorResponse(413, "The file is too long.", "the body is longer than 500000000 bytes"),
                ErrorResponse(
                    415,
                    "The file has none of the known types, or is compressed.",
                    "Content-Type must be one of application/x-ndjson, application/jsonl, text/csv",
                ),
                ErrorResponse(422, "Lines are wrong: nothing is imported.", _REJECTED_REPORT, body=Report),
            ),
            scope="catalogue:write",
            other_scopes=_OTHERS,
            roles=IMPORTERS,
        )
    )
    async def import_file(self, call: Call) -> Response:
        kind, wanted = call.path_text("kind", "import kind"), call.query(ImportParameters)
        require_token_scope(call.request, f"{area_of(kind)}:write")
        options = ImportOptions(
            dry_run=wanted.dry_run,
            replace=wanted.replace,
            partial=wanted.partial,
            confirmed=wanted.yes,
            confirmed_by="yes=true",
            force=wanted.force,
            forced_by="force=true",
            diff=wanted.diff,
        )
        content_type = call.request.headers.get("content-type", "")
        act_for(IMPORTS)
        async with stored_body(content_type, call.upload()) as body:

            async def work(tx: Transaction, now: datetime) -> ChangeResponse:
                report = await import_body(tx, kind, body, options, now=now, on_hand=wanted.on_hand)
                text = to_json(present_report(report))
                return ChangeResponse(_status(report), text, text, lasting=report.id is not None)

            target = f"POST {call.target[1]}?{call.raw_query}"
            return await self.desk.once(call, lambda: fingerprint_of_upload(target, body.digest), work)

    @_IMPORTS.lists(
        "/api/import",
        "The imports.",
        other_scopes=("prices:read", "stock:read", "customers:read"),
        roles=HISTORY_READERS,
    )
    async def list_imports(self, tx: Transaction, call: Call, query: ChangingParameters) -> ListPage[ImportRecord]:
        """The history of imports.

        The newest first; only the kinds that the token may read.
        """
        kinds = [name for name, kind in IMPORT_KINDS.items() if token_has_scope(call.request, f"{kind.area}:read")]
        imports = await list_imports(
            tx, query.limit + 1, older_than=query.after or None, kinds=kinds, changed_since=query.since
        )
        return ListPage(imports, imports)

    @_IMPORTS.changes("POST", "/api/import/{id}/roll-back", share=IMPORTS, other_scopes=_OTHERS, roles=IMPORTERS)
    async def roll_back_import(
        self, tx: Transaction, now: datetime, call: Call, import_id: ImportId, query: RollBackParameters
    ) -> RolledBackImport:
        """Roll an import back.

        Restores what the import changed. Records that have changed since are named in a 409; with `force` they
        are restored too, and listed as `overwritten`. `kept` are added records that cannot be removed because
        they are in use, and customers that have another e-mail address now. The figures of prices are those of
        the roll-back, which needs no `force` for them: it restores what stood. Needs the scope of the import.
        """
        record = await lock_import(tx, import_id)
        if record is not None:
            require_token_scope(call.request, f"{area_of(record.kind)}:write")
        return await roll_back_import(tx, import_id, now, force=query.force)


def _status(report: ImportReport) -> int:
    if report.is_rejected:
        return _WRONG_LINES
    return _SOME_LINES if report.skipped else _OK


_PRICE_CHANGES = Subject(tag="Imports", read="prices:read", write="prices:write", described=_PRICE_CHANGES_DESCRIBED)


class PriceChangeOperations(Struct, frozen=True):
    """The endpoint of rules for prices."""

    desk: Desk
    catalogue: Catalogue

    @_PRICE_CHANGES.changes("POST", "/api/price-change", dry_run=True, share=IMPORTS, roles=IMPORTERS)
    async def change_prices(self, tx: Transaction, now: datetime, call: Call, body: ForcedPriceChange) -> Report:
        """Change prices by a rule.

        Raises or lowers the prices of a list by per cent or by pounds, or sets their margin above `purchase_cost`; all
        products, or those that match. It is an import of the kind `price-list`: it has the same guards, is in the
        history and can be rolled back. A dry run has the first 1,000 changes in `diff`.
        """
        wanted = call.query(DryRun).dry_run
        options = ImportOptions(dry_run=wanted, diff=wanted, force=body.force, forced_by="force: true", rule=str(body))
        return present_report(await change_prices(tx, body, self.catalogue, options, now))
