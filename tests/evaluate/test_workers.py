"""Cells in processes: the same numbers as without, and one that goes wrong hurts nobody else."""

import os
import subprocess
import sys

import numpy as np
import pytest

import countwise as cw
from countwise.errors import DataError
from countwise.evaluate import benchmark
from countwise.evaluate.memory import PeakMemory
from countwise.evaluate.workers import THREAD_VARIABLES
from oracle import faulty_models as faulty

X = np.arange(40.0)[:, None]
GOOD, BAD = (X, np.array(["a", "b"] * 20)), (X, np.array(["a", "bad"] * 20))
DATA = {"good": GOOD, "bad": BAD, "last": GOOD}


def scores_of(results):
    left_out = ("seconds", "bytes")
    return [{k: v for k, v in row.items() if not k.endswith(left_out)} for row in results.rows]


def errors_of(results):
    return {
        dataset: {row["error"] for row in results.rows if row["dataset"] == dataset} for dataset in results.datasets
    }


@pytest.mark.parametrize("n_workers", [1, 3])
def test_results_do_not_depend_on_the_number_of_workers(n_workers, tmp_path):
    models = {"nb": cw.NBClassifier(), "tan": cw.TANClassifier(tune=None), "f": faulty.Frequencies()}
    data = {name: tuple(cw.datasets.load(name)) for name in ("monks-1", "iris")}
    here = benchmark(models, data, "2x2")
    there = benchmark(models, data, "2x2", n_workers=n_workers, store=tmp_path / "r.jsonl")
    assert scores_of(there) == scores_of(here)
    assert {row["model_bytes"] is None for row in there.rows if row["repeat"] or row["fold"]} == {True}
    assert all(row["model_bytes"] > 100 for row in there.rows if not row["repeat"] and not row["fold"])


@pytest.mark.parametrize(
    ("model", "message", "limits"),
    [
        (faulty.Raises(), "RuntimeError: no luck", {}),
        (faulty.Segfault(), "Crash: ended by signal SIGSEGV", {}),
        (faulty.Killed(), "Crash: ended by signal SIGKILL; probably the machine had no memory left", {}),
        (faulty.Exits(), "Crash: the process ended with exit code 3", {}),
        (faulty.Hungry(), "OutOfMemory: ", {"memory_limit": 2**30}),
        (faulty.Sleeps(), "TimeLimit: not ", {"time_limit": 2.0}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_cell_that_goes_wrong_is_recorded_and_the_rest_goes_on(model, message, limits, tmp_path):
    store = tmp_path / "r.jsonl"
    results = benchmark({"m": model, "f": faulty.Frequencies()}, DATA, "1x2", n_workers=2, store=store, **limits)
    of_model = errors_of(results.only(models=["m"]))
    assert of_model["good"] == of_model["last"] == {None}
    assert all(error.startswith(message) for error in of_model["bad"])
    assert errors_of(results.only(models=["f"])) == {name: {None} for name in DATA}
    again = benchmark({"m": model, "f": faulty.Frequencies()}, DATA, "1x2", n_workers=2, store=store, **limits)
    assert again.rows == results.rows


def test_a_model_that_ran_out_of_time_is_not_tried_on_the_other_splits(tmp_path):
    models, store = {"m": faulty.Sleeps(), "f": faulty.Frequencies()}, tmp_path / "r.jsonl"
    results = benchmark(models, DATA, "3x2", n_workers=1, time_limit=2.0, store=store)
    slow = [row["error"] for row in results.only(models=["m"], datasets=["bad"]).rows]
    assert slow == [
        "TimeLimit: not done after 2 s",
        *["TimeLimit: not tried; an earlier split was not done after 2 s"] * 5,
    ]
    assert {row["error"] for row in results.rows if (row["model"], row["dataset"]) != ("m", "bad")} == {None}
    retried = benchmark(models, DATA, "3x2", n_workers=1, time_limit=1.5, store=store, retry_failed=True)
    assert retried.only(models=["m"], datasets=["bad"]).rows[0]["error"] == "TimeLimit: not done after 1.5 s"


def test_limits_need_a_process():
    with pytest.raises(DataError, match="n_workers=1 or more"):
        benchmark({"f": faulty.Frequencies()}, {"good": GOOD}, time_limit=1.0)


def test_a_model_that_cannot_be_sent_is_named():
    class Local(faulty.Frequencies):
        pass

    with pytest.raises(DataError, match="model 'mine' cannot be sent to a worker"):
        benchmark({"mine": Local()}, {"good": GOOD}, "1x2", n_workers=1)


def test_a_script_that_starts_itself_again_is_told_of(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nfrom sklearn.naive_bayes import GaussianNB\nfrom countwise.evaluate import benchmark\n"
        "data = {'d': (np.arange(8.0)[:, None], np.arange(8) % 2)}\n"
        "benchmark({'nb': GaussianNB()}, data, '1x2', n_workers=1)\n"  # not below `if __name__ == "__main__"`
    )
    process = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert process.returncode == 1
    assert "a worker process could not start" in process.stderr
    assert 'if __name__ == "__main__":' in process.stderr.splitlines()[-1]


def test_the_environment_is_as_before():
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    benchmark({"f": faulty.Frequencies()}, {"good": GOOD}, "1x2", n_workers=1)
    assert {name: os.environ.get(name) for name in THREAD_VARIABLES} == before


def test_peak_memory_is_that_of_the_block():
    with PeakMemory() as small:
        pass
    with PeakMemory() as large:
        block = np.ones(2**24)
        del block
    if small.peak_bytes is None:
        pytest.skip("the system does not tell the peak memory of a process")
    assert small.peak_bytes < 2**24
    assert large.peak_bytes > 0.9 * 2**27
