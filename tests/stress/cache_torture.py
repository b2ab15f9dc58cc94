"""The cache under fire: many processes that use, damage, prune and clear one folder, and are killed meanwhile.

    python tests/stress/cache_torture.py                                   64 processes of 1000 rounds each
    python tests/stress/cache_torture.py --processes 4 --rounds 50 --seed 7
    python tests/stress/cache_torture.py --disk 6M                         on a disk of that size (root makes it)

A process does rounds of `torture_rounds`; a killed one is started again and does the rest. Passed is: no read gave
anything but the right entry or nothing, no kernel computed anything wrong, no process ended but by our hand, and
pruning leaves no half-written file and no entry that is not right. The seed is printed; it repeats the choices, not how
the processes interleave.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.stress.torture_rounds import KEYS, Worker, made
from tritium.compiler.cache import CacheWarning, KernelCache
from tritium.compiler.inventory import items, prune, verify

NOBODY = 65534
_DONE = struct.Struct("<q")


class Torture:
    """One run: `run()` gives the list of what went wrong; `counts` what was done."""

    def __init__(self, folder: Path, processes: int, rounds: int, seed: int, kill_every: float) -> None:
        self.folder, self.processes, self.rounds, self.seed = folder, processes, rounds, seed
        self.kill_every = kill_every
        self.progress = mmap.mmap(-1, _DONE.size * processes)  # rounds that each process has done, whatever its fate
        self.notes = folder.with_name(folder.name + "-notes")
        self.running: dict[int, int] = {}
        self.starts: Counter[int] = Counter()
        self.killed = 0

    def run(self) -> list[str]:
        """Start, kill, start again until all rounds are done; then look at what is left."""
        self.notes.mkdir()
        rng = random.Random(self.seed)
        for number in range(self.processes):
            self.start(number)
        wrong: list[str] = []
        told = time.monotonic()
        while self.running and not wrong:
            wrong += self.reap(rng.expovariate(1 / self.kill_every))
            if time.monotonic() - told > 30:
                told = time.monotonic()
                print(f"  {self.all_done} rounds, {self.killed} processes killed", flush=True)
            if self.running:
                self.kill(rng.choice(list(self.running)))
        for pid in self.running:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        return wrong + ([] if wrong else self.left_behind())

    def done(self, number: int) -> int:
        return _DONE.unpack_from(self.progress, number * _DONE.size)[0]

    @property
    def all_done(self) -> int:
        return sum(map(self.done, range(self.processes)))

    def start(self, number: int) -> None:
        """A process that does the rounds that are left for it."""
        self.starts[number] += 1
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            self.running[pid] = number
            return
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: nothing is left of a run that is stopped
        status = 1
        try:
            self.work(number)
            status = 0
        except BaseException:
            (self.notes / f"wrong-{number}").write_text(traceback.format_exc())
        finally:
            os._exit(status)

    def work(self, number: int) -> None:
        worker = Worker(self.folder, f"{self.seed} {number} {self.starts[number]}")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", CacheWarning)
            for i in range(self.done(number), self.rounds):
                worker.round()
                _DONE.pack_into(self.progress, number * _DONE.size, i + 1)
        (self.notes / f"counts-{number}").write_text(json.dumps(worker.counts))

    def reap(self, seconds: float) -> list[str]:
        """Wait so long, or until all have ended; what those that ended by themselves and badly have to say."""
        until = time.monotonic() + seconds
        while self.running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid:
                number = self.running.pop(pid)
                if os.waitstatus_to_exitcode(status) != 0:
                    return [self.story(number, status)]
            elif time.monotonic() >= until:
                break
            else:
                time.sleep(0.002)
        return []

    def story(self, number: int, status: int) -> str:
        note = self.notes / f"wrong-{number}"
        told = note.read_text() if note.exists() else ""
        return (
            f"process {number} ended with {os.waitstatus_to_exitcode(status)} after {self.done(number)} rounds\n{told}"
        )

    def kill(self, pid: int) -> None:
        """Kill one, with whatever it is in the middle of, and start it again."""
        number = self.running.pop(pid)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        self.killed += 1
        if self.done(number) < self.rounds:
            self.start(number)

    def left_behind(self) -> list[str]:
        """What pruning leaves that it must not leave."""
        folder = KernelCache(self.folder).folder
        for place, _, _ in os.walk(folder):
            os.chmod(place, 0o700)
        prune(folder, None, None, abandoned_after=0)
        wrong = [f"left behind: {path}" for path in folder.rglob("new-*")]
        for item, problem in verify(folder):
            if problem and not problem.startswith("another user"):
                prune(folder, None, None)  # damaged behind the header: a read notices
            elif (
                not problem
                and item.key in KEYS
                and KernelCache(self.folder).read(item.key) not in (made(item.key), None)
            ):
                wrong.append(f"a wrong entry: {item.path}")
        return wrong + [f"no entry: {item.path}: {item.problem}" for item in items(folder) if item.problem]

    @property
    def counts(self) -> Counter[str]:
        """What the processes did that came to their end (killed ones cannot tell)."""
        found: Counter[str] = Counter()
        for path in self.notes.glob("counts-*"):
            found.update(json.loads(path.read_text()))
        return found


def small_disk(folder: Path, size: str) -> bool:
    """Put a disk of that size at `folder`; False where we may not."""
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder)]).returncode == 0


def give_up_root(folders: list[Path]) -> None:
    """Go on as a user to whom rights apply, with all that is needed imported: Python's folders may be closed to others."""
    if os.getuid() == 0:
        for folder in folders:
            os.chown(folder, NOBODY, NOBODY)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=1000, help="of each process")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    parser.add_argument("--kill-every", type=float, default=0.15, help="seconds between kills, on average")
    parser.add_argument("--limit", default="2M", help="TRITIUM_CACHE_MAX_SIZE of the processes")
    parser.add_argument("--disk", default="", help="the size of a disk of its own, such as 6M (needs root)")
    return parser.parse_args()


def main() -> int:
    chosen = arguments()
    print(f"seed {chosen.seed}: {chosen.processes} processes, {chosen.rounds} rounds each", flush=True)
    base = Path(tempfile.mkdtemp(prefix="tritium-torture-"))
    folder = base / "cache"
    folder.mkdir(mode=0o700)
    mounted = bool(chosen.disk) and small_disk(folder, chosen.disk)
    if chosen.disk and not mounted:
        print("no disk of its own could be made: only limits of files stand for a full one")
    child = os.fork()  # which gives up being root: the parent unmounts
    if child == 0:
        os._exit(run(chosen, base, folder))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if mounted:
        subprocess.run(["umount", str(folder)], check=True)
    shutil.rmtree(base, ignore_errors=True)
    return status


def run(chosen: argparse.Namespace, base: Path, folder: Path) -> int:
    os.environ.update(TRITIUM_CACHE_DIR=str(base / "first"), TRITIUM_CACHE_MAX_SIZE=chosen.limit)
    for action in (Worker.launch, Worker.compile, Worker.tidy):
        action(Worker(base / "first", "first"))
    give_up_root([base, folder])
    os.environ["TRITIUM_CACHE_DIR"] = str(folder)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    torture = Torture(folder, chosen.processes, chosen.rounds, chosen.seed, chosen.kill_every)
    start = time.perf_counter()
    wrong = torture.run()
    took = time.perf_counter() - start
    print(f"{torture.all_done} rounds in {took:.0f} s, {torture.killed} processes killed")
    print(", ".join(f"{name} {count}" for name, count in sorted(torture.counts.items())))
    for text in wrong:
        print(f"WRONG: {text}")
    print(f"FAILED; repeat with --seed {chosen.seed}" if wrong else "passed")
    sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
