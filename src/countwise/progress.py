"""Progress of long work: library code opens a bar, whoever runs it decides what is shown.

The default is silence. ``use_progress(True)`` (or ``verbose=True`` of an estimator) shows a text bar on
stderr; a program installs its own reporter with ``use_progress(reporter)``. Only the outermost bar is shown:
inside ``progress_bar`` the current reporter is silent, so that a protocol that fits a hundred models shows
one bar.
"""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Protocol, TextIO

BAR_WIDTH = 24
TTY_INTERVAL = 0.1  # seconds between two drawings on a terminal
LOG_INTERVAL = 10.0  # seconds between two lines in a log file


class Progress(Protocol):
    """What a reporter can do; ``advance`` may be called from any thread."""

    def start(self, label: str, total: int | None) -> None:
        """Begin a piece of work of ``total`` steps (None: not known)."""

    def advance(self, n: int = 1, work: float | None = None) -> None:
        """``n`` more steps are done; ``work``: the share of all work that they were, if steps differ much."""

    def stop(self) -> None:
        """The work has ended, well or not."""


class SilentProgress:
    """Shows nothing."""

    def start(self, label: str, total: int | None) -> None: ...  # noqa: D102

    def advance(self, n: int = 1, work: float | None = None) -> None: ...  # noqa: D102

    def stop(self) -> None: ...  # noqa: D102


class TextProgress:
    r"""A bar on stderr: redrawn in place on a terminal, an occasional line elsewhere.

    >>> import io
    >>> stream = io.StringIO()
    >>> with use_progress(TextProgress(stream)), progress_bar("fit", 2) as bar:
    ...     bar.advance()
    ...     bar.advance()
    >>> stream.getvalue()
    'fit [########################] 100% 2/2 0:00:00\n'
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.in_place = self.stream.isatty()
        self.interval = TTY_INTERVAL if self.in_place else LOG_INTERVAL
        self.lock = threading.Lock()
        self.label, self.done, self.running = "", 0, False
        self.total: int | None = None
        self.began = self.shown = 0.0
        self.work: float | None = None

    def start(self, label: str, total: int | None) -> None:
        """Begin a bar."""
        with self.lock:
            self.label, self.total, self.done, self.work, self.running = label, total, 0, None, True
            self.began = self.shown = time.monotonic()
            if self.in_place:
                self._show("\r")

    def advance(self, n: int = 1, work: float | None = None) -> None:
        """Count ``n`` steps; draw when the last drawing is old enough."""
        with self.lock:
            self.done += n
            if work is not None:
                self.work = (self.work or 0.0) + work
            if self.running and time.monotonic() - self.shown >= self.interval:
                self._show("\r" if self.in_place else "\n")

    def stop(self) -> None:
        """Draw the final state and end the line."""
        with self.lock:
            if self.running:
                self._show("\n")
            self.running = False

    def _show(self, end: str) -> None:
        self.shown = time.monotonic()
        text = render(self.label, self.done, self.total, self.shown - self.began, self.work)
        self.stream.write(f"\x1b[K{text}{end}" if self.in_place else text + end)
        self.stream.flush()


def render(label: str, done: int, total: int | None, elapsed: float, work: float | None = None) -> str:
    """One line of text: bar, share, steps, time so far and an estimate of the rest, by ``work`` if that is known.

    >>> render("fit", 1, 4, 20.0)
    'fit [######..................]  25% 1/4 0:00:20, 0:01:00 left'
    >>> render("read", 70, None, 3700.0)
    'read 70 1:01:40'
    >>> render("bench", 3, 4, 20.0, work=0.5)
    'bench [##################......]  75% 3/4 0:00:20, 0:00:20 left'
    """
    if not total:
        return f"{label} {done} {timedelta(seconds=round(elapsed))}"
    share = min(done / total, 1.0)
    filled = round(share * BAR_WIDTH)
    rest = f", {timedelta(seconds=round(time_left(elapsed, share if work is None else work)))} left"
    rest = rest if 0.0 < share < 1.0 else ""
    bar = "#" * filled + "." * (BAR_WIDTH - filled)
    return f"{label} [{bar}] {share:4.0%} {done}/{total} {timedelta(seconds=round(elapsed))}{rest}"


def time_left(elapsed: float, share: float) -> float:
    """Seconds that the rest will take, if it goes on as so far.

    >>> time_left(30.0, 0.25)
    90.0
    """
    return elapsed / share - elapsed if share > 0.0 else 0.0


SILENT = SilentProgress()
_current: ContextVar[Progress] = ContextVar("countwise_progress", default=SILENT)


@contextmanager
def use_progress(reporter: Progress | bool | None) -> Iterator[None]:
    """Within the block bars go to ``reporter``; True: text on stderr, False: silence, None: no change."""
    if isinstance(reporter, bool):
        reporter = TextProgress() if reporter else SILENT
    token = _current.set(_current.get() if reporter is None else reporter)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def progress_bar(label: str, total: int | None = None) -> Iterator[Progress]:
    """Report a piece of work to the current reporter; the block calls ``advance`` on what it gets.

    >>> with progress_bar("counting", total=3) as bar:  # silent unless a reporter is in use
    ...     bar.advance()
    """
    reporter = _current.get()
    reporter.start(label, total)
    token = _current.set(SILENT)
    try:
        yield reporter
    finally:
        _current.reset(token)
        reporter.stop()
