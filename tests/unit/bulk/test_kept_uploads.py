"""What staff upload is kept for them, for a day."""

import asyncio
from datetime import timedelta

import pytest

from support.service import MORNING
from tradecounter.db.pool import Database
from tradecounter.imports.uploads import Uploads
from tradecounter.kit.clock import FrozenClock
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.payments.kept_files import KeptFiles

HOURS = timedelta(hours=23)


def test_a_bank_file_is_its_owners_and_gone_after_a_day() -> None:
    files = KeptFiles()
    kept = files.keep(1, "bank.csv", "CSV", b"", [], MORNING)
    assert files.find(kept.id, 1, MORNING + HOURS) is kept
    for owner, now in ((2, MORNING), (1, MORNING + 2 * HOURS)):
        with pytest.raises(DomainError) as found:
            files.find(kept.id, owner, now)
        assert found.value.kind is Kind.NOT_FOUND


def test_a_file_to_import_is_its_owners_and_gone_after_a_day() -> None:
    clock = FrozenClock(MORNING)
    uploads = Uploads(Database("postgresql://"), clock)
    kept = asyncio.run(uploads.keep_rows(1, "price-list", [], "all by 5 %", "/price-change"))
    clock.advance(HOURS)
    assert uploads.find(kept.id, 1) is kept
    assert uploads.of(1) == [kept]
    with pytest.raises(DomainError):
        uploads.find(kept.id, 2)
    clock.advance(HOURS)
    assert uploads.of(1) == []
    with pytest.raises(DomainError):
        uploads.find(kept.id, 1)
    assert kept.file.closed
