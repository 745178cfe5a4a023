"""What figures depend on beside code and data: the machine and the versions of packages."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from countwise.estimators.door import machine_memory

PACKAGES: Final = (
    "countwise",
    "numpy",
    "scipy",
    "scikit-learn",
    "pyarrow",
    "pandas",
    "xgboost",
    "xgboost-cpu",
    "lightgbm",
    "catboost",
    "interpret-core",
)
CPU_INFO: Final = Path("/proc/cpuinfo")


def n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def environment() -> dict[str, Any]:
    """Machine and versions, as a run notes them; packages that are not installed are left out.

    >>> sorted(environment())[:3]
    ['cores', 'cpu', 'load']
    """
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": n_cores(),
        "memory_bytes": machine_memory(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _cpu() -> str:
    try:
        lines = CPU_INFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
