"""Places for output that are checked before the work, and progress on a terminal."""

import os
import sys
import time
from collections.abc import Iterable
from datetime import timedelta
from glob import glob
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from countwise.cli.failure import failure
from countwise.progress import Progress as Reporter
from countwise.progress import TextProgress, time_left


def check_writable(path: Path, force: bool = True, inputs: Iterable[str] = ()) -> None:
    """Complain before hours of work, not after them. No input is ever replaced."""
    if path.is_dir():
        raise failure(f"{path}: is a directory", "name a file in it")
    if any(path.resolve() == Path(found).resolve() for name in inputs for found in (name, *glob(name))):
        raise failure(f"{path}: is also an input", "choose another name for the output")
    if path.exists() and not force:
        raise failure(f"{path}: exists already", "choose another name or pass --force to replace it")
    if not path.parent.is_dir():
        raise failure(f"{path.parent}: no such directory", "make it first")
    if not os.access(path.parent, os.W_OK):
        raise failure(f"{path.parent}: not writable", "choose another place for the output")


def log() -> Console:
    """Messages go to stderr: stdout is for data."""
    return Console(stderr=True, highlight=False)


def reporter() -> Reporter:
    """A live bar on a terminal; lines now and then in a log file."""
    return RichProgress() if sys.stderr.isatty() else TextProgress()


class RichProgress:
    """Bars of the rich package, whose own lock makes them safe for threads."""

    def __init__(self) -> None:
        self.bar: Progress | None = None

    def start(self, label: str, total: int | None) -> None:
        """Begin a bar."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.bar = Progress(*columns, TextColumn("{task.fields[left]}"), console=log(), transient=True)
        self.task = self.bar.add_task(label, total=total, left="")
        self.bar.start()
        self.total, self.work, self.began = total, 0.0, time.monotonic()

    def advance(self, n: int = 1, work: float | None = None) -> None:
        """Count ``n`` steps."""
        if self.bar is not None:
            share = n / self.total if self.total else 0.0
            self.work += share if work is None else work
            left = timedelta(seconds=round(time_left(time.monotonic() - self.began, self.work)))
            self.bar.update(self.task, advance=n, left=f"{left} left" if 0.0 < self.work < 1.0 else "")

    def stop(self) -> None:
        """Remove the bar."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None
