"""Cells in processes of their own: a crash, a lack of memory or a time limit ends one cell and nothing else.

A worker keeps the data set it was given last. It is replaced when it dies or is ended; it ends by itself when the
parent does.
"""

import contextlib
import gc
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Final, Self

from countwise.errors import DataError, size_text
from countwise.evaluate.cell import Cell, empty_row, run_cell
from countwise.evaluate.memory import limit_memory
from countwise.evaluate.problems import Problem
from countwise.evaluate.scores import ScoreFunction
from countwise.evaluate.store import Row

THREAD_VARIABLES: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PR_SET_PDEATHSIG: Final = 1  # prctl(2)
READY: Final = "ready"  # a worker's first message: its imports are not a cell's time


@dataclass(frozen=True)
class Limits:
    """How much a worker may use: threads of libraries, seconds per cell, bytes above what it starts with."""

    threads: int = 1
    seconds: float | None = None
    n_bytes: int | None = None


def serve(link: Connection, limits: Limits) -> None:
    """The worker's loop: ``(problem or None, cell, scores)`` in, a row out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    _end_with_parent()
    warnings.simplefilter("ignore")  # of rivals; ours are tested
    if limits.n_bytes is not None:
        limit_memory(limits.n_bytes)
    gc.freeze()  # what was imported is not looked at by every collection below
    problem: Problem | None = None
    link.send(READY)
    while True:
        try:
            given, cell, scores = link.recv()
        except EOFError:
            return
        problem = problem if given is None else given
        assert problem is not None
        gc.collect()  # what the last cell left behind must not hide a part of the next one's peak
        link.send(run_cell(problem, cell, scores))


class Worker:
    """A process, the data set it holds, and the cell it is at."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.cell: Cell | None = None
        self.dataset: str | None = None
        self.is_ready = False
        context = get_context("spawn")  # a fork would copy locks of threads that are not there
        self.link, child = context.Pipe()
        self.process = context.Process(target=serve, args=(child, limits), daemon=True)
        with _environment(dict.fromkeys(THREAD_VARIABLES, str(limits.threads))):
            self.process.start()
        child.close()

    def give(self, problem: Problem, cell: Cell, scores: Mapping[str, ScoreFunction]) -> None:
        """Start a cell."""
        try:
            self.link.send((None if self.dataset == cell.dataset else problem, cell, scores))
        except (BrokenPipeError, ConnectionResetError):
            pass  # it died while idle: the loop of the pool finds out and tells of it
        except Exception as cause:
            raise DataError(f"model {cell.model_name!r} cannot be sent to a worker process: {cause}") from cause
        self.cell, self.dataset, self.began = cell, cell.dataset, time.monotonic()

    def rest(self) -> float | None:
        """Seconds until the time limit."""
        if self.limits.seconds is None or not self.is_ready:
            return None
        return max(0.0, self.began + self.limits.seconds - time.monotonic())

    def end(self) -> int | None:
        """Kill the process; its exit code."""
        self.process.kill()
        self.process.join()
        self.link.close()
        return self.process.exitcode


class Workers:
    """A pool: ``run`` gives rows as they are done, in any order."""

    def __init__(self, n_workers: int, limits: Limits) -> None:
        self.limits = limits
        self.workers = [Worker(limits) for _ in range(n_workers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self.workers:
            worker.end()

    def run(
        self, cells: Iterable[Cell], problem_of: Callable[[str], Problem], scores: Mapping[str, ScoreFunction]
    ) -> Iterator[tuple[Cell, Row]]:
        """Every cell and its row.

        A model that ran out of time on a data set is not tried on its other splits: they would take as long, and
        without one split the data set does not count for the model.
        """
        waiting = iter(cells)
        too_slow: set[tuple[str, str, int | None]] = set()
        passed_over: list[tuple[Cell, Row]] = []

        def start(worker: Worker) -> None:
            for cell in waiting:
                if cell.task not in too_slow:
                    return worker.give(problem_of(cell.dataset), cell, scores)
                reason = f"TimeLimit: not tried; an earlier split was not done after {self.limits.seconds:g} s"
                passed_over.append((cell, empty_row(cell, scores) | {"error": reason}))
            worker.cell = None
            return None

        for worker in self.workers:
            start(worker)
        while busy := [worker for worker in self.workers if worker.cell is not None]:
            limits = [worker.rest() for worker in busy]
            ready = wait([worker.link for worker in busy], min((s for s in limits if s is not None), default=None))
            for worker in busy:
                assert worker.cell is not None
                if worker.link in ready:
                    row, alive = self._received(worker, scores)
                    if row is None:
                        continue
                elif worker.rest() == 0.0:
                    row, alive = empty_row(worker.cell, scores), False
                    row["error"] = f"TimeLimit: not done after {self.limits.seconds:g} s"
                    too_slow.add(worker.cell.task)
                    worker.end()
                else:
                    continue
                done = worker.cell
                if not alive:
                    self.workers.remove(worker)
                    worker = Worker(self.limits)  # noqa: PLW2901
                    self.workers.append(worker)
                start(worker)
                yield done, row
            yield from passed_over
            passed_over.clear()

    def _received(self, worker: Worker, scores: Mapping[str, ScoreFunction]) -> tuple[Row | None, bool]:
        """The row that a worker sent, None if it has only begun; of a dead one, a row that says how it died."""
        assert worker.cell is not None
        try:
            message = worker.link.recv()
            if message == READY:
                worker.is_ready, worker.began = True, time.monotonic()
                return None, True
            return message, True
        except (EOFError, OSError):
            worker.process.join(timeout=10)
            code = worker.process.exitcode
            worker.end()
            if not worker.is_ready:
                error = DataError(f"a worker process could not start: {death(code, self.limits)}")
                error.add_note('in a script, work with workers belongs below: if __name__ == "__main__":')
                raise error from None
            row = empty_row(worker.cell, scores)
            row["error"] = f"Crash: {death(code, self.limits)}"
            return row, False


def death(code: int | None, limits: Limits) -> str:
    """How a process died.

    >>> death(-11, Limits())
    'ended by signal SIGSEGV'
    >>> death(-9, Limits(n_bytes=2**30))
    'ended by signal SIGKILL; probably the machine had no memory left (limit of a worker: 1 GB)'
    """
    if code is None or code >= 0:
        return f"the process ended with exit code {code}"
    text = f"ended by signal {signal.Signals(-code).name}"
    if code == -signal.SIGKILL:
        limit = "none" if limits.n_bytes is None else size_text(limits.n_bytes)
        text += f"; probably the machine had no memory left (limit of a worker: {limit})"
    return text


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Variables that a process started in the block will see."""
    before: dict[str, Any] = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _end_with_parent() -> None:
    """A parent that is killed cannot end its workers; the system does it (Linux), or the closed pipe later on."""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
