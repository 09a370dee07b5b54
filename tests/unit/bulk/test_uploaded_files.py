"""What staff upload is kept for them, for a day."""

import asyncio
from datetime import timedelta

import pytest

from support.service import MORNING
from tradecounter.bulk.uploaded_files import UploadedFile, UploadedFiles
from tradecounter.db.pool import Database
from tradecounter.imports.uploads import ImportUploads
from tradecounter.kit.clock import FrozenClock
from tradecounter.kit.errors import DomainError, Kind

HOURS = timedelta(hours=23)


class _RunningFile(UploadedFile, kw_only=True):
    @property
    def is_running(self) -> bool:
        return True


def test_an_uploaded_file_is_its_owners_and_gone_after_a_day() -> None:
    files = UploadedFiles[UploadedFile]()
    file = UploadedFile(owner=1, name="bank.csv", at=MORNING)
    files.keep(file, MORNING)
    assert files.fetch(file.id, 1, MORNING + HOURS) is file
    for owner, now in ((2, MORNING), (1, MORNING + 2 * HOURS)):
        with pytest.raises(DomainError) as error:
            files.fetch(file.id, owner, now)
        assert error.value.kind is Kind.NOT_FOUND


def test_the_oldest_of_too_many_uploaded_files_goes_unless_it_is_being_read() -> None:
    files = UploadedFiles[UploadedFile]()
    running = _RunningFile(owner=1, name="stock.csv", at=MORNING)
    later = [UploadedFile(owner=1, name=f"{n}.csv", at=MORNING + timedelta(minutes=n + 1)) for n in range(20)]
    for file in (running, *later):
        files.keep(file, file.at)
    assert files.of_owner(1, later[-1].at) == [*reversed(later[1:]), running]


def test_a_file_to_import_is_its_owners_and_gone_after_a_day() -> None:
    clock = FrozenClock(MORNING)
    uploads = ImportUploads(Database("postgresql://"), clock)
    kept = asyncio.run(uploads.keep_rows(1, "price-list", [], "all by 5 %", "/price-change"))
    clock.advance(HOURS)
    assert uploads.fetch(kept.id, 1) is kept
    assert uploads.unapplied(1) == [kept]
    with pytest.raises(DomainError):
        uploads.fetch(kept.id, 2)
    clock.advance(HOURS)
    assert uploads.unapplied(1) == []
    with pytest.raises(DomainError):
        uploads.fetch(kept.id, 1)
    assert kept.file.closed
