"""The scripts of deploy/backup, where they reject what would lose data; `make drill` restores with them."""

import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "deploy" / "backup"


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPTS / script, *map(str, arguments)], text=True, capture_output=True, check=False)


@pytest.fixture
def wal(tmp_path: Path) -> Path:
    (tmp_path / "wal").mkdir()
    made = tmp_path / "segment"
    made.write_bytes(b"written by PostgreSQL" * 1000)
    return made


def test_a_wal_file_that_is_archived_again_after_a_crash_is_accepted(tmp_path: Path, wal: Path) -> None:
    for _ in range(2):
        assert run("archive-wal", tmp_path, wal, "000000010000000000000001").returncode == 0
    [copy] = (tmp_path / "wal").iterdir()
    unpacked = subprocess.run(["gzip", "--decompress", "--stdout", copy], capture_output=True, check=True)
    assert (copy.name, unpacked.stdout) == ("000000010000000000000001.gz", wal.read_bytes())
    assert copy.stat().st_mode & 0o077 == 0


def test_a_wal_file_of_another_cluster_never_replaces_one(tmp_path: Path, wal: Path) -> None:
    run("archive-wal", tmp_path, wal, "000000010000000000000001")
    [copy] = (tmp_path / "wal").iterdir()
    before = copy.read_bytes()
    wal.write_bytes(b"of another cluster")
    done = run("archive-wal", tmp_path, wal, "000000010000000000000001")
    assert (done.returncode, copy.read_bytes()) == (1, before)
    assert done.stderr.endswith("exists, with other contents\n")


def test_a_wal_file_that_cannot_be_stored_is_an_error(tmp_path: Path, wal: Path) -> None:
    assert run("archive-wal", tmp_path / "missing", wal, "000000010000000000000001").returncode != 0
    assert run("archive-wal", tmp_path, tmp_path / "missing", "000000010000000000000001").returncode != 0
    assert not (tmp_path / "wal" / "000000010000000000000001.gz").exists()


def test_a_restore_never_overwrites_a_data_directory(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "PG_VERSION").write_text("18\n")
    done = run("restore", tmp_path, "2026-06-16 08:59:59 UTC", data)
    assert (done.returncode, done.stderr) == (1, f"{data} is not empty: rename it first\n")


def test_a_backup_that_ended_after_the_moment_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "base" / "20260616T090000Z").mkdir(parents=True)
    done = run("restore", tmp_path, "2026-06-16 08:59:59 UTC", tmp_path / "data")
    assert (done.returncode, done.stderr) == (1, "no backup ended before 2026-06-16 08:59:59 UTC\n")
    assert not (tmp_path / "data").exists()


def test_a_damaged_backup_is_not_restored(tmp_path: Path) -> None:
    backup = tmp_path / "base" / "20260616T080000Z"
    backup.mkdir(parents=True)
    (backup / "base.tar.gz").write_bytes(b"not what was written")
    (backup / "SHA256SUMS").write_text(f"{'0' * 64}  base.tar.gz\n")
    done = run("restore", tmp_path, "2026-06-16 08:59:59 UTC", tmp_path / "data")
    assert done.returncode != 0
    assert "base.tar.gz: FAILED" in done.stdout
    assert not (tmp_path / "data").exists()


def test_a_backup_never_deletes_all_of_them(tmp_path: Path) -> None:
    kept = tmp_path / "base" / "20260616T085900Z"
    kept.mkdir(parents=True)
    done = run("back-up", tmp_path, 0)
    assert (done.returncode, done.stderr) == (1, "KEPT must be 1 or more\n")
    assert kept.is_dir()
