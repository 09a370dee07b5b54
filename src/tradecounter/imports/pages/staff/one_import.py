"""`/import/{id}`: shows what an import changed in each record, and rolls it back."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct
from starlette.responses import Response

from tradecounter.audit.queries import AuditFilter, list_entries
from tradecounter.bulk.differences import Change, changes_after
from tradecounter.bulk.price_figures import PriceFigures
from tradecounter.bulk.roll_back import ROLL_BACK_WITHIN
from tradecounter.bulk.statements import stored_keys
from tradecounter.db.fair_shares import IMPORTS, act_for
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.page_kit.filled_forms import Filled, listed_apart
from tradecounter.edge.page_kit.submitted_forms import read_submitted
from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_file, cursor_text, read_cursor
from tradecounter.edge.page_kit.values import label
from tradecounter.edge.pages.operation import form, page, roles_of_caller, staff_id_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.imports.kinds import (
    HISTORY_READERS,
    IMPORT_KINDS,
    IMPORTERS,
    fields_of_kind,
    importable_kinds,
    readable_kinds,
)
from tradecounter.imports.queries import ImportRecord, find_import, lock_import
from tradecounter.imports.run import RolledBackImport, measure_roll_back, roll_back_import
from tradecounter.imports.wire import RollBackParameters
from tradecounter.kit.errors import DomainError, FieldError, Kind, not_found
from tradecounter.kit.text import common_beginning, plural
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.sentences import ShownChange, changes_of, in_words

_LONGEST = 80  # characters of a text that is shown whole
_AROUND = 20  # characters before and after what differs in a longer text
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def shown_fields(change: Change, order: Sequence[str]) -> list[ShownChange]:
    """Return the changed fields in the order of the kind, unknown ones last.

    Of a new or deleted record, all fields with a value. Of a list, the elements that were added and removed; of a
    mapping, the members that differ; of a long text, the part that differs.
    """
    before, after = change.before or {}, change.after or {}
    members = after or before
    names = [*(name for name in order if name in members), *(name for name in members if name not in order)]
    if change.before is None or change.after is None:
        old, new = ({name: _cut(in_words(each.get(name), name)) for name in names} for each in (before, after))
        shown = (name for name in names if members[name] not in _EMPTY)
        return [ShownChange(name, old[name], new[name]) for name in shown]
    return [shown for name in names for shown in _differing(name, before.get(name), after[name])]


def _differing(name: str, old: Any, new: Any) -> Iterator[ShownChange]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            if old.get(key) != new.get(key):
                former, wanted = (in_words(each.get(key), key) for each in (old, new))
                yield ShownChange(f"{label(name)} {key}", former, wanted, is_data=True)
    elif isinstance(old, list) and isinstance(new, list):
        gone, added = [each for each in old if each not in new], [each for each in new if each not in old]
        if not gone and not added:
            yield ShownChange(name, None, "in another order")
        else:
            yield ShownChange(name, in_words(gone or None, name), in_words(added or None, name))
    elif isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > _LONGEST:
        yield ShownChange(name, *_differing_parts(old, new))
    else:
        yield ShownChange(name, in_words(old, name) or None, in_words(new, name) or None)


def _differing_parts(old: str, new: str) -> tuple[str | None, str | None]:
    start = common_beginning(old, new)
    end = common_beginning(old[start:][::-1], new[start:][::-1])
    first = max(0, start - _AROUND)

    def part(text: str) -> str | None:
        last = min(len(text), len(text) - end + _AROUND)
        shown = _cut(text[first:last], _LONGEST + 2 * _AROUND)
        return f"{'…' if first else ''}{shown}{'…' if last < len(text) else ''}" if text else None

    return part(old), part(new)


def _cut(text: str | None, most: int = _LONGEST) -> str | None:
    return text if text is None or len(text) <= most else f"{text[:most]}…"


def sku_of(kind: str, change: Change, price_lists: Sequence[str]) -> str | None:
    """Return the SKU of the product that a changed record belongs to, if its key has one."""
    names = IMPORT_KINDS[kind].key
    if names == ("sku",):
        return change.key
    if names == ("price_list", "sku"):
        return next((change.key.removeprefix(f"{p} ") for p in price_lists if change.key.startswith(f"{p} ")), None)
    return None


def shown_changes(kind: str, price_lists: Sequence[str], *, are_made: bool = True) -> dict[str, Any]:
    """Return the functions that templates call for a change: its fields, and the path of its product's page.

    Until changes are made, products that they would add have no page.
    """
    order = fields_of_kind(kind)

    def path_of(change: Change) -> str:
        sku = sku_of(kind, change, price_lists)
        return f"/product/{quote(sku)}" if sku and (are_made or change.before is not None) else ""

    return {"fields_of": lambda change: shown_fields(change, order), "path_of": path_of}


_ONE, _ROLL_BACK = "/import/{id}", "/import/{id}/roll-back"
_COLUMNS = (Column("Record"), Column("Change"), Column("Before and after"))
_PRICE_COLUMNS = (*_COLUMNS[:2], Column("Price by", numeric=True), _COLUMNS[2])
_BY_LINE = Sort("line", descending=False)


_MOST_MEASURED = 2_000  # records; a hundred thousand take seconds


class RollBackPage(Struct, frozen=True):
    """Whether the effect of the roll-back on prices is computed, however large the import is."""

    prices: bool = False


class ImportPages(Struct, frozen=True):
    """One import in the history."""

    desk: PageDesk
    parts: OfficeParts

    @page(_ONE, "One import", scope="catalogue:read", roles=HISTORY_READERS, query=TableParameters)
    async def show_import(self, call: Call) -> Response:
        wanted = call.query(TableParameters)
        after = read_cursor(wanted.after, tuple[int | None, str])
        async with self.desk.reading() as tx:
            record = await self._fetch_readable(tx, call)
            changes = await changes_after(tx, record.id, wanted.most, None if after is None else after[0])
            lists = await stored_keys(tx, "price_list")
            rule = await _rule_of(tx, record.id)
        of_prices = IMPORT_KINDS[record.kind].guard is not None
        if wanted.is_file:
            headings = ("line", "record", "change", "before", "after", *(["percent"] if of_prices else []))
            rows = (
                (row.line, row.key, row.change, _json(row.before), _json(row.after))
                + ((row.percent or None,) if of_prices else ())
                for row in changes
            )
            return csv_file(f"import-{record.id}", headings, rows)
        address = self.desk.view(call).at(f"/import/{record.id}")
        columns = _PRICE_COLUMNS if of_prices else _COLUMNS
        table = Table.of(call, address, columns, changes, _BY_LINE, lambda row: cursor_text((row.line, row.key), 0))
        return self.desk.show(
            call,
            "imports/import.html",
            made=record,
            rule=rule,
            upload=self.parts.uploads.find_of_import(record.id, staff_id_of(call)),
            table=table,
            can_be_undone=self._can_be_undone(call, record),
            kept_for=ROLL_BACK_WITHIN.days,
            **shown_changes(record.kind, lists),
            of_prices=of_prices,
        )

    @page(
        _ROLL_BACK,
        "Roll an import back",
        scope="catalogue:write",
        roles=IMPORTERS,
        dangerous=True,
        query=RollBackPage,
    )
    async def show_roll_back(self, call: Call) -> Response:
        return await self._show_roll_back(call, Filled())

    @form(_ROLL_BACK, "Roll an import back", scope="catalogue:write", roles=IMPORTERS, dangerous=True)
    async def roll_back(self, call: Call) -> Response:
        import_id, changed = call.path_id("id", "import"), list[FieldError]()
        submitted = await read_submitted(call)
        act_for(IMPORTS)

        async def work(tx: Transaction, body: RollBackParameters, now: datetime) -> RolledBackImport:
            record = await lock_import(tx, import_id)
            if record is not None and record.kind not in importable_kinds(roles_of_caller(call)):
                raise DomainError(Kind.FORBIDDEN, f"imports of the kind {record.kind} are for administrators")
            with listed_apart(changed):
                return await roll_back_import(tx, import_id, now, force=body.force)

        return await self.desk.change(
            call,
            RollBackParameters,
            work,
            again=lambda filled: self._show_roll_back(call, filled, changed),
            to=f"/import/{import_id}",
            done=_roll_back_message,
            submitted=submitted,
        )

    async def _fetch_readable(self, tx: Transaction, call: Call) -> ImportRecord:
        """Return the import of the path.

        Raises DomainError (not found), also for a kind that is hidden from the person.
        """
        import_id = call.path_id("id", "import")
        made = await find_import(tx, import_id)
        if made is None or made.kind not in readable_kinds(roles_of_caller(call)):
            raise not_found("import", import_id)
        return made

    def _can_be_undone(self, call: Call, made: ImportRecord) -> bool:
        recent = made.at >= self.desk.clock.now() - ROLL_BACK_WITHIN
        return recent and made.rolled_back_at is None and made.kind in importable_kinds(roles_of_caller(call))

    async def _show_roll_back(self, call: Call, filled: Filled, changed: list[FieldError] | None = None) -> Response:
        is_asked = call.query(RollBackPage).prices
        if is_asked:
            act_for(IMPORTS)
        async with self.desk.reading() as tx:
            record = await self._fetch_readable(tx, call)
        has_figures = IMPORT_KINDS[record.kind].guard is not None and self._can_be_undone(call, record)
        measure = is_asked or record.added + record.changed + record.deactivated <= _MOST_MEASURED
        return self.desk.show(
            call,
            "imports/roll_back.html",
            form=filled,
            made=record,
            changed=changed or [],
            prices=await self._prices(call, record) if has_figures and measure else None,
            unmeasured=has_figures and not measure,
            is_asked=is_asked,
        )

    async def _prices(self, call: Call, made: ImportRecord) -> PriceFigures | None:
        """Return the effect of a roll-back on prices."""
        async with transaction(self.desk.database, call.actor) as tx:
            return await measure_roll_back(tx, made.id, self.desk.clock.now())


async def _rule_of(tx: Transaction, import_id: int) -> str:
    """Return the rule that made an import's rows, in words; empty if a file had them."""
    entries = await list_entries(tx, AuditFilter(subject=f"import/{import_id}", action="import.apply"), 1)
    return next((change.after or "" for entry in entries for change in changes_of(entry) if change.field == "rule"), "")


def _roll_back_message(rolled_back: RolledBackImport) -> str:
    parts = [f"{plural(rolled_back.restored, 'record')} restored"]
    if rolled_back.overwritten:
        parts.append(f"{len(rolled_back.overwritten):,} of them had changed since")
    if rolled_back.kept:
        parts.append(f"{plural(len(rolled_back.kept), 'record')} kept, because in use or with another e-mail address")
    return f"The import is rolled back: {', '.join(parts)}."


def _json(members: Any) -> str:
    return "" if members is None else msgspec.json.encode(members).decode()
