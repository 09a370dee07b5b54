"""`make soak`: the model's day on this machine, at the largest rate that its two cores take; thirty minutes.

1. Calibrates: what does each kind of work cost here?
2. Searches the largest multiple of the day's busiest hour at which every deadline is kept.
3. Plays the 24 hours of the day, shortened, at 70 % of that, with all processes of a shop on both cores.
4. Judges: errors, deadlines, memory, webhooks, and the processor time that the model predicts.

Writes `soak.md`. Status 1 when something is missed, 2 when it could not be run.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import psycopg

from bench.__main__ import CATALOGUE, CATALOGUE_VARIABLE
from bench.kit import machine
from bench.kit.catalogue import read_catalogue
from bench.kit.machine import Quietness
from bench.kit.processes import BenchError
from bench.kit.workbench import Workbench, workbench
from bench.load_model.calibrate import Calibration
from bench.load_model.costs import PARTS, Costs, Seconds, read_costs
from bench.load_model.day import HOURS, KINDS, WEBHOOK, Rates, rates_of
from bench.load_model.press import Press, Sample
from bench.load_model.site import Site, memory_of, site
from bench.load_model.soak_report import CORES, WORKERS, Segment, Soaked, faults_of, written
from bench.load_model.work import Work
from tradecounter.kit.errors import OperatorError

REPORT = Path(__file__).parents[1] / "soak.md"
SHARE = 0.7  # of the largest rate: beyond it, what delays the shop for seconds takes minutes to make up for

_SEARCH_SECONDS = 20.0
_SETTLING_SECONDS = 30.0
_FASTER = 1.25
_MOST_STEPS = 10
_TRIES = 2
_BEGINS_AT = 0.4  # of the cores, by the prediction
_SAMPLE_SECONDS = 5.0
_DRAIN_SECONDS = 60.0
_BACKLOG = "select count(*) from webhook_delivery where delivered_at is null"


@dataclass
class Soak:
    """One run: what it has of the site, and what it found."""

    bench: Workbench
    site: Site
    work: Work
    press: Press
    costs: Costs
    memory: list[tuple[float, dict[str, int]]] = field(default_factory=list)

    def busiest_hour(self) -> int:
        """Return the hour that costs most at its mean rates."""
        return max(HOURS, key=lambda hour: sum(self.costs.load(rates_of(hour), WORKERS).values()))

    def predicted(self, rates: Rates) -> Seconds:
        """Return the cores that the model says each part uses at these rates."""
        return self.costs.load(rates, WORKERS)

    def largest_scale(self) -> tuple[float, list[str]]:
        """Return the largest multiple of the busiest hour that keeps all deadlines, and the way to it in words."""
        hour = self.busiest_hour()
        scale = self._first_scale(hour)
        best, words = 0.0, []
        for _ in range(_MOST_STEPS):
            for _ in range(_TRIES):  # something else on the machine may have been in the way
                segment = self.play(hour, scale, _SEARCH_SECONDS, drain=_SETTLING_SECONDS)
                missed = segment.missed()
                self.drain()
                if not missed:
                    break
            words.append(
                f"{scale:.2f} × the day: {segment.total(segment.measured):.2f} cores measured, "
                f"{segment.total(segment.predicted):.2f} predicted; {missed[0] if missed else 'all deadlines kept'}"
            )
            self.say(words[-1])
            if not missed:
                best = scale
                scale *= _FASTER
            elif best:
                break
            else:
                scale /= _FASTER**2
        if not best:
            raise BenchError(f"no rate keeps the deadlines: {words[-1]}")
        return best, words

    def _first_scale(self, hour: int) -> float:
        scale = 0.05
        while sum(self.predicted(rates_of(hour, scale)).values()) < _BEGINS_AT * CORES:
            scale *= 1.05
        return scale

    def play(self, hour: int, scale: float, seconds: float, *, drain: float = 0.0) -> Segment:
        """Send an hour's mix for so long; return what was found."""
        rates = rates_of(hour, scale)
        self.site.require_alive()
        begun, used, driver = time.monotonic(), self.site.used(), time.process_time()
        accepted = self.site.receiver.accepted
        samples: list[Sample] = []
        while (left := begun + seconds - time.monotonic()) > 0.05:
            samples += self.press.send(rates, min(left, _SAMPLE_SECONDS))
            self.memory.append((time.monotonic(), memory_of(self.site)))
        lasted = time.monotonic() - begun
        after = self.site.used()
        measured = {part: (after[part] - used[part]) / lasted for part in PARTS}
        deliveries = self.site.receiver.accepted - accepted
        until = time.monotonic() + drain
        while self.press.pending() and time.monotonic() < until:
            time.sleep(0.2)
        samples += self.press.taken()
        done = {kind: sum(1 for s in samples if s.kind == kind) / lasted for kind in KINDS}
        done[WEBHOOK] = deliveries / lasted
        return Segment(
            hour, scale, lasted, samples, measured, self.predicted(done), (time.process_time() - driver) / lasted,
            self.backlog(), deliveries, done,
        )  # fmt: skip

    def backlog(self) -> int:
        """Return how many webhooks are not delivered yet."""
        with self.site.store.connect() as connection:
            [(count,)] = connection.execute(_BACKLOG).fetchall()
        return int(count)

    def drain(self) -> int:
        """Wait until all webhooks are delivered; return how many are not."""
        until = time.monotonic() + _DRAIN_SECONDS
        while (left := self.backlog()) and time.monotonic() < until:
            time.sleep(0.5)
        return left

    def say(self, text: str) -> None:
        """Print the progress."""
        self.bench.say(text)


def measured(bench: Workbench) -> Costs:
    """Calibrate on this machine."""
    with site(bench, workers=1) as calm:
        return Calibration(bench, calm, Work(calm, bench.folder)).costs()


def run(bench: Workbench, costs: Costs, minutes: float, seed: int, *, quick: bool) -> Soaked:
    """Search the largest rate, and play the day."""
    with site(bench, workers=WORKERS) as busy, busy.posting():
        work = Work(busy, bench.folder)
        with Press(work, seed) as press:
            soak = Soak(bench, busy, work, press, costs)
            warm_up(soak)
            best, words = soak.largest_scale()
            scale = best * SHARE
            soak.say(f"the day at {scale:.2f} × its rates, in {minutes:g} minutes")
            soak.drain()
            soak.memory.clear()
            told = busy.log.stat().st_size  # a rate beyond the largest makes errors, too
            quietness = Quietness(bench.postgres_pid)
            segments = []
            for hour in HOURS:
                segments.append(soak.play(hour, scale, minutes * 60 / len(HOURS)))
                soak.say(segments[-1].line())
            others = quietness.others()
            left = soak.drain()
            if samples := press.taken():
                segments[-1].samples.extend(samples)
        errors = [line for line in busy.log.read_bytes()[told:].decode(errors="replace").splitlines() if is_error(line)]
    return Soaked(minutes, seed, best, scale, words, segments, soak.memory, left, errors, others, quick)


def is_error(line: str) -> bool:
    """Return whether a line of the log tells of an error, or is no entry of the log at all, as a bare traceback."""
    try:
        entry = json.loads(line)
    except ValueError:
        return bool(line.strip())
    return entry.get("level") in {"error", "critical"} or "exception" in entry


def warm_up(soak: Soak) -> None:
    """Have orders wait at each step, and every process know its customers."""
    soak.say("warming up")
    hour = soak.busiest_hour()
    rates = rates_of(hour, soak._first_scale(hour) / 2)  # noqa: SLF001 a function only for its length
    soak.press.send(rates, 5.0)
    soak.press.send(rates, 5.0)


def main() -> int:
    """Run it; write the report unless it is a short run, which prints it."""
    parser = argparse.ArgumentParser(prog="make soak", description="e.g. make soak ARGS='--minutes 3'")
    parser.add_argument("--minutes", type=float, default=30, help="of the day, after some five minutes to prepare")
    parser.add_argument(
        "--costs", choices=("measured", "last"), default="measured", help="last: those that make capacity measured"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the moments at which work arrives")
    parser.add_argument(
        "--write", action="store_true", help="write the report also after a run of less than 30 minutes"
    )
    default = Path(os.environ.get(CATALOGUE_VARIABLE, CATALOGUE))
    parser.add_argument("--catalogue", type=Path, default=default, metavar="FOLDER", help="as of make bench")
    wanted = parser.parse_args()
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, _ended)
    quick = wanted.minutes < 30
    try:
        machine.require_programs()
        catalogue = read_catalogue(wanted.catalogue)
        with (
            tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as folder,
            workbench(Path(folder), catalogue, quick=quick) as bench,
        ):
            costs = read_costs() if wanted.costs == "last" else measured(bench)
            soaked = run(bench, costs, wanted.minutes, wanted.seed, quick=quick)
    except (BenchError, OperatorError, subprocess.SubprocessError, psycopg.Error, OSError) as error:
        sys.stderr.write(f"NOT RUN: {error}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    report = written(soaked, costs)
    sys.stdout.write(report)
    if wanted.write or not quick:
        REPORT.write_text(report, encoding="utf-8")
    return _status(faults_of(soaked))


def _status(faults: Sequence[str]) -> int:
    sys.stderr.writelines(f"FAILED {fault}\n" for fault in faults)
    sys.stderr.write(f"faults: {len(faults)}\n")
    return 1 if faults else 0


def _ended(number: int, _frame: FrameType | None) -> None:
    # Ends like an exception, so that everything that was started is stopped too.
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
