"""Folders are made for their owner alone; open ones are closed, or warned of when they may not be ours to close."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tradecounter.kit.private_folder import close_file, make_data_dir, make_private

CLOSED = "other users had access, which was removed"
STILL_OPEN = "other users have access: remove it with chmod"

MAKERS: list[Callable[[Path], None]] = [make_private, make_data_dir]


def mode(folder: Path) -> int:
    return folder.stat().st_mode & 0o7777


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    folder.mkdir()
    folder.chmod(0o755)
    return folder


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("umask", [0, 0o022])
def test_a_folder_and_those_above_it_are_made_private(tmp_path: Path, make: Callable[[Path], None], umask: int) -> None:
    before = os.umask(umask)
    try:
        with capture_logs() as logged:
            make(tmp_path / "one" / "two")
            make(tmp_path / "one" / "two")
    finally:
        os.umask(before)
    assert [mode(tmp_path / "one"), mode(tmp_path / "one" / "two")] == [0o700, 0o700]
    assert logged == []


@pytest.mark.parametrize("make", MAKERS)
def test_an_open_folder_is_closed_with_a_word_in_the_log(folder: Path, make: Callable[[Path], None]) -> None:
    with capture_logs() as logged:
        make(folder)
        make(folder)
    assert mode(folder) == 0o700
    assert logged == [{"event": CLOSED, "log_level": "warning", "path": str(folder), "former_mode": "0755"}]


def test_others_may_pass_a_data_directory(folder: Path) -> None:
    folder.chmod(0o711)
    make_data_dir(folder)
    assert mode(folder) == 0o711
    make_private(folder)
    assert mode(folder) == 0o700


def test_what_the_program_made_in_a_data_directory_is_closed(folder: Path) -> None:
    folder.chmod(0o711)
    (folder / "mail").mkdir(mode=0o755)
    (folder / "secret.key").touch(mode=0o644)
    with capture_logs() as logged:
        make_data_dir(folder)
    assert [mode(place) for place in (folder, folder / "mail", folder / "secret.key")] == [0o711, 0o700, 0o600]
    assert [(entry["event"], entry["former_mode"]) for entry in logged] == [(CLOSED, "0755"), (CLOSED, "0644")]


def test_a_data_directory_with_files_of_others_is_left_open_with_a_warning(folder: Path) -> None:
    (folder / "postgres").mkdir(mode=0o700)
    (folder / "website").mkdir()
    with capture_logs() as logged:
        make_data_dir(folder)
    assert mode(folder) == 0o755
    assert logged == [{"event": STILL_OPEN, "log_level": "warning", "path": str(folder), "mode": "0755"}]


@pytest.mark.parametrize("make", MAKERS)
def test_a_folder_of_another_user_is_left_as_it_is_with_a_warning(make: Callable[[Path], None], folder: Path) -> None:
    # Root can give a folder away; for other users, root's own is the foreign one.
    foreign = folder if os.geteuid() == 0 else Path("/usr")
    if foreign == folder:
        os.chown(folder, 1, 1)
    with capture_logs() as logged:
        make(foreign)
    assert mode(foreign) == 0o755
    assert [entry["event"] for entry in logged] == [STILL_OPEN]


@pytest.mark.parametrize("make", MAKERS)
def test_a_file_in_its_place_is_an_error(tmp_path: Path, make: Callable[[Path], None]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        make(tmp_path / "file")
    with pytest.raises(OSError, match="file"):
        make(tmp_path / "file" / "below")


def test_a_file_that_others_can_read_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.touch()
    file.chmod(0o640)
    with capture_logs() as logged:
        close_file(file)
        close_file(file)
    assert mode(file) == 0o600
    assert logged == [{"event": CLOSED, "log_level": "warning", "path": str(file), "former_mode": "0640"}]
