"""Memory of learning from files, latency of one row, time to import: ``python -m benchmarks.memory``."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import countwise as cw
from benchmarks.timing import show
from countwise import datasets

CHUNK = 100_000  # rows written at a time
MB = 2**20

# Runs in a process of its own: the peak of a process never falls. VmHWM starts at 0 with the program, unlike
# getrusage, which remembers the process that started it.
FIT = """
import json, sys, time
import pyarrow.dataset, pyarrow.parquet
import countwise as cw

def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))

model = cw.KDBClassifier(k=int(sys.argv[2]), n_jobs=int(sys.argv[3]), max_memory=sys.argv[4] or None)
source = cw.scan(sys.argv[1], target="class")
before, began = status("VmRSS"), time.perf_counter()
model.fit(source)
seconds = time.perf_counter() - began
trees = sum(tree.nbytes for tree in model.trees_)
print(json.dumps({"before": before, "peak": status("VmHWM"), "trees": trees, "seconds": seconds}))
"""

IMPORTS = {
    "python alone": "pass",
    "import countwise": "import countwise",
    "countwise.KDBClassifier": "import countwise; countwise.KDBClassifier",
    "import sklearn": "import sklearn",
    "sklearn.naive_bayes": "from sklearn.naive_bayes import CategoricalNB",
}


def write_rows(path: Path, n_rows: int) -> None:
    """Rows of a network of 30 attributes with 2 to 10 values, written in pieces."""
    import pyarrow.parquet as pq

    network = datasets.random_network(random_state=0)
    writer = None
    for number, start in enumerate(range(0, n_rows, CHUNK)):
        table = network.sample(min(CHUNK, n_rows - start), random_state=number).to_arrow()
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()


def fit_memory(n_rows: int, k: int, threads: int, max_memory: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, n_rows)
        command = [sys.executable, "-c", FIT, str(path), str(k), str(threads), max_memory]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return {
            "rows": f"{n_rows:,}",
            "file MB": path.stat().st_size / MB,
            "codes MB": n_rows * 31 / MB,
            "after imports MB": found["before"] / MB,
            "peak above that MB": (found["peak"] - found["before"]) / MB,
            "count trees MB": found["trees"] / MB,
            "fit s": found["seconds"],
        }


def row_latency(n_calls: int) -> list[dict[str, Any]]:
    """Microseconds of ``predict_proba`` of one NumPy row of 21 numbers."""
    dataset = datasets.make_waveform(5000, random_state=0)
    X = np.column_stack([column.to_numpy() for column in dataset.X.columns])
    y = np.unique(dataset.y, return_inverse=True)[1]
    models: dict[str, Any] = {
        "NB": cw.NBClassifier(),
        "kDB-5": cw.KDBClassifier(k=5),
        "SkDB-5": cw.SKDBClassifier(k=5),
    }
    try:
        from lightgbm import LGBMClassifier

        models["LightGBM"] = LGBMClassifier(n_jobs=1, verbose=-1)
    except ModuleNotFoundError:
        pass
    return [{"model": name} | _latency(model.fit(X, y), X, n_calls) for name, model in models.items()]


def _latency(model: Any, X: np.ndarray, n_calls: int) -> dict[str, Any]:
    model.predict_proba(X[:1])
    seconds = np.empty(n_calls)
    for call in range(n_calls):
        row = X[call % len(X)][None, :]
        began = time.perf_counter()
        model.predict_proba(row)
        seconds[call] = time.perf_counter() - began
    return {"median us": float(np.median(seconds) * 1e6), "99 % us": float(np.quantile(seconds, 0.99) * 1e6)}


def import_times(repeats: int) -> list[dict[str, Any]]:
    """Least milliseconds of a new interpreter, each statement in turn, then again."""
    best = dict.fromkeys(IMPORTS, float("inf"))
    for _ in range(repeats):
        for name, statement in IMPORTS.items():
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            best[name] = min(best[name], time.perf_counter() - began)
    alone = best["python alone"]
    return [{"statement": n, "ms": s * 1e3, "above python ms": (s - alone) * 1e3} for n, s in best.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 4_000_000], help="one fit for each")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--max-memory", default="", help="limit for the counts, such as 100MB")
    parser.add_argument("--calls", type=int, default=2000, help="single rows to predict")
    parser.add_argument("--repeats", type=int, default=5, help="of the imports; the fastest counts")
    parser.add_argument("--json", type=Path, help="write everything here too")
    options = parser.parse_args()
    memory = [fit_memory(n, options.k, options.threads, options.max_memory) for n in options.rows]
    found = {"memory": memory, "latency": row_latency(options.calls), "imports": import_times(options.repeats)}
    for name, lines in found.items():
        if lines:
            print(name)
            show(lines)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
