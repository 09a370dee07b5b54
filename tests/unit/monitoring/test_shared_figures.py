"""The figures of several processes as one, also of processes that have ended."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from tradecounter.kit.telemetry import BOUNDS, Durations
from tradecounter.monitoring.metrics import (
    METRICS,
    Figures,
    FiguresFile,
    SharedFigures,
    combined,
    counters_of,
    figures_folder,
)

ONE: Figures = {
    "rejections": {("credit",): [2], ("invalid",): [1]},
    "data_age_seconds": {(): [3]},
    "jobs_due": {(): [4]},
}
OTHER: Figures = {"rejections": {("credit",): [5]}, "data_age_seconds": {(): [1]}, "client_connections": {(): [7]}}


def test_counts_are_added_and_ages_are_the_largest() -> None:
    assert combined([ONE, OTHER]) == {
        "rejections": {("credit",): [7], ("invalid",): [1]},
        "data_age_seconds": {(): [3]},
        "jobs_due": {(): [4]},
        "client_connections": {(): [7]},
    }


def test_the_buckets_of_durations_are_added_one_by_one() -> None:
    durations = Durations()
    for seconds in (0.0001, BOUNDS[0], 0.3, 100):
        durations.add(seconds)
    assert durations.counts[0] == 2
    assert durations.counts[-1] == 1
    part: Figures = {"refresh_duration_seconds": {(): durations.values}}
    [whole] = combined([part, part])["refresh_duration_seconds"].values()
    assert whole[:-1] == [2 * count for count in durations.counts]
    assert whole[-1] == pytest.approx(200.6012)


def test_the_figures_of_running_processes_are_added(tmp_path: Path) -> None:
    FiguresFile(tmp_path).write(ONE)
    FiguresFile(tmp_path).write(OTHER)
    assert SharedFigures(tmp_path).read() == combined([ONE, OTHER])


def test_a_process_replaces_its_own_figures(tmp_path: Path) -> None:
    file = FiguresFile(tmp_path)
    file.write(ONE)
    file.write(OTHER)
    assert SharedFigures(tmp_path).read() == OTHER
    assert len(list(tmp_path.iterdir())) == 1


def outdated(folder: Path, pid: int) -> None:
    """Let the only file in a folder be an old one of another process."""
    [path] = folder.iterdir()
    path.write_bytes(msgspec.json.encode(msgspec.json.decode(path.read_bytes()) | {"pid": pid, "at": -1e9}))


def test_the_counts_of_a_process_that_has_ended_stay_and_its_file_goes(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    FiguresFile(tmp_path).write(ONE)
    outdated(tmp_path, ended.pid)
    shared = SharedFigures(tmp_path)
    for _ in range(2):
        assert shared.read() == counters_of(ONE) == {"rejections": ONE["rejections"]}
        assert not list(tmp_path.iterdir())
    FiguresFile(tmp_path).write(OTHER)
    assert shared.read()["rejections"] == {("credit",): [7], ("invalid",): [1]}


def test_a_process_that_hangs_is_counted_but_does_not_say_how_it_is(tmp_path: Path) -> None:
    FiguresFile(tmp_path).write(ONE)
    outdated(tmp_path, 1)
    shared = SharedFigures(tmp_path)
    assert [shared.read(), shared.read()] == [counters_of(ONE)] * 2
    assert len(list(tmp_path.iterdir())) == 1


def test_metrics_that_only_a_newer_release_has_are_left_out(tmp_path: Path) -> None:
    FiguresFile(tmp_path).write({**ONE, "invented_later": {("label",): [1]}})
    assert SharedFigures(tmp_path).read() == ONE


def test_every_metric_has_a_name_and_a_sentence_of_its_own() -> None:
    assert len({metric.name for metric in METRICS}) == len({metric.meaning for metric in METRICS}) == len(METRICS)
    assert all(metric.meaning.endswith(".") for metric in METRICS)


LEFT = """
import os
from tradecounter.monitoring.metrics import figures_folder
with figures_folder() as folder:
    print(folder, flush=True)
    os._exit(9)
"""


def test_folders_that_killed_services_have_left_are_removed_and_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    done = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, check=False)
    left = Path(done.stdout.strip())
    assert left.is_dir()
    with figures_folder() as used:
        assert not left.exists()
        with figures_folder() as other:
            assert used.is_dir()
            assert other != used
    assert list(tmp_path.iterdir()) == []


def test_services_that_start_at_the_same_moment_keep_their_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def start(_: int) -> bool:
        with figures_folder() as folder:
            FiguresFile(folder).write(ONE)
            return SharedFigures(folder).read() == ONE

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(start, range(400)))
