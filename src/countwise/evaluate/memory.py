"""Memory of a process: its peak while some work runs, and a limit that turns exhaustion into an error.

Both need Linux. Elsewhere peaks are not known (None) and there is no limit.
"""

import contextlib
import ctypes
import sys
from pathlib import Path
from types import TracebackType
from typing import Final, Self

STATUS: Final = Path("/proc/self/status")
CLEAR_REFS: Final = Path("/proc/self/clear_refs")
RESET_PEAK: Final = "5"  # written to CLEAR_REFS: the peak becomes what is resident now; see proc(5)


class PeakMemory:
    """Bytes that the process needed at most, above what it held before.

    >>> with PeakMemory() as memory:
    ...     block = bytearray(50_000_000)
    >>> memory.peak_bytes is None or memory.peak_bytes > 40_000_000
    True
    """

    peak_bytes: int | None = None

    def __enter__(self) -> Self:
        self._before = None
        try:
            _return_free_memory()
            CLEAR_REFS.write_text(RESET_PEAK)
            self._before = _status("VmRSS")
        except OSError:
            pass  # not Linux, or not allowed: the peak stays unknown
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            self.peak_bytes = max(0, _status("VmHWM") - self._before)


def limit_memory(n_bytes: int) -> None:
    """Refuse allocations once this process's data have grown by ``n_bytes``: Python raises MemoryError then."""
    if not sys.platform.startswith("linux"):
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = _status("VmData") + n_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _status(field: str) -> int:
    """A size of the process, in bytes."""
    for line in STATUS.read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise OSError(f"{STATUS} has no {field}")


def _return_free_memory() -> None:
    """What earlier work has freed goes back to the system; else it would hide a part of the next peak."""
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
