"""``countwise bench``: runs that survive anything, tables, names."""

import json
import signal
import time

import numpy as np
import pytest

from countwise.evaluate.results import Results

RUN = ("bench", "run", "--sets", "monks-1,iris", "--models", "nb-hdp,tan-m", "--protocol", "2x2", "--workers", "1")


def rows_of(path):
    left_out = ("seconds", "bytes")
    rows = Results.read(path / "results.jsonl").rows
    kept = [{k: v for k, v in row.items() if not k.endswith(left_out)} for row in rows]
    return sorted(kept, key=lambda row: (row["dataset"], row["model"], row["repeat"], row["fold"]))


def test_run_then_compare(run, folder):
    result = run(*RUN)
    assert result.exit_code == 0, result.stderr
    assert "2 data sets, 2 models, 2x2; results in results" in result.stderr
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in (*lines[:2], *lines[3:5])] == ["Means", "model", "nb-hdp", "tan-m"]
    again = run(*RUN)
    assert again.stdout == result.stdout  # times too: nothing was done again
    compared = run("bench", "compare", "results", "--base", "tan-m", "--measures", "rmse,bias", "--csv", "tables")
    assert compared.exit_code == 0, compared.stderr
    assert "RMSE against tan-m" in compared.stdout
    assert "Bias against tan-m" in compared.stdout
    assert sorted(p.name for p in (folder / "tables").iterdir()) == [
        "bias-against-tan-m.csv",
        "means-over-data-sets.csv",
        "rmse-against-tan-m.csv",
    ]
    tables = json.loads(run("bench", "compare", "results", "--json").stdout)
    assert tables[0]["title"] == "Means over data sets"


def test_a_run_that_is_killed_goes_on_and_ends_with_the_same_table(shell, run, folder):
    """SIGKILL in the middle, twice, at different places; then the rest. Nothing is lost, nothing is done twice."""
    args = (
        "bench",
        "run",
        "--sets",
        "monks-1,monks-2,iris",
        "--models",
        "nb-hdp,tan-hdp,kdb2-hdp",
        "--protocol",
        "4x2",
    )
    whole = run(*args, "--workers", "1", "--out", "whole")
    assert whole.exit_code == 0, whole.stderr
    store = folder / "killed" / "results.jsonl"

    def n_cells():
        return store.read_bytes().count(b'"repeat"') if store.exists() else 0

    for least in (5, 30):
        process = shell(*args, "--workers", "2", "--out", "killed")
        deadline = time.monotonic() + 120
        while n_cells() < least and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL  # in the middle of its work
        assert least <= n_cells() < 3 * 3 * 8
    time.sleep(0.2)  # its workers end with it
    last = run(*args, "--workers", "2", "--out", "killed")
    assert last.exit_code == 0, last.stderr
    assert rows_of(folder / "killed") == rows_of(folder / "whole")
    content = store.read_text().splitlines()
    keys = [
        tuple(map(json.loads(line).get, ("dataset", "model", "repeat", "fold")))
        for line in content
        if '"repeat"' in line
    ]
    assert len(keys) == len(set(keys)) == 3 * 3 * 8  # no cell was counted twice


def write_sets(path, rows_by_name):
    """Random tables of one attribute and two classes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    path.mkdir()
    for name, n_rows in rows_by_name.items():
        columns = {"a": rng.choice(["u", "v"], n_rows), "class": rng.choice(["x", "y"], n_rows)}
        pq.write_table(pa.table(columns), path / f"{name}.parquet")


def test_parts_of_a_folder(run, folder):
    write_sets(folder / "data", {"adult": 100, "iris": 100, "wine": 110, "own": 120})
    (folder / "data" / "manifest.csv").write_text("name,seed_tables\niris,few\nadult,few\n")
    args = ("bench", "run", "--data", "data", "--models", "nb-m,nb-hdp", "--protocol", "1x2", "--workers", "1")
    for part, names in {"development": {"adult"}, "confirmation": {"iris", "wine", "own"}}.items():
        result = run(*args, "--sets", part, "--out", part)
        assert result.exit_code == 0, result.stderr
        assert set(Results.read(folder / part / "results.jsonl").datasets) == names
    # Stores that have different cells are merged line by line.
    (folder / "both").mkdir()
    parts = [(folder / part / "results.jsonl").read_bytes() for part in ("development", "confirmation")]
    (folder / "both" / "results.jsonl").write_bytes(b"".join(parts))

    def notes(*options):
        result = run("bench", "compare", "both", "--json", *options)
        assert result.exit_code == 0, result.stderr
        return [table["note"] for table in json.loads(result.stdout)]

    assert notes()[0] == "Plain means over 4 data sets."
    assert notes("--sets", "confirmation")[0] == "Plain means over 3 data sets."
    assert notes("--sets", "development")[0] == "Plain means over 1 data sets."
    assert notes("--sets", "wine,development")[0] == "Plain means over 2 data sets."
    assert notes("--sets", "few", "--data", "data")[0] == "Plain means over 2 data sets."
    assert notes("--sets", "all")[0] == "Plain means over 4 data sets."
    report = run("bench", "report", "both", "--sets", "confirmation", "--out", "page.html")
    assert report.exit_code == 0, report.stderr
    assert "2 models on 3 data sets" in (folder / "page.html").read_text()
    unknown = run("bench", "compare", "both", "--sets", "zoo")
    assert unknown.exit_code == 1
    assert "no data set 'zoo'" in unknown.stderr
    none = run("bench", "compare", "development", "--sets", "confirmation")
    assert none.exit_code == 1
    assert "none of these is in the results" in none.stderr


def test_training_sizes(run, folder):
    sizes = ("bench", "run", "--sets", "iris", "--models", "nb-m,nb-hdp", "--protocol", "sizes", "--workers", "1")
    result = run(*sizes)
    assert result.exit_code == 0, result.stderr
    assert "Mean RMSE by training rows" in result.stdout
    assert "Mean RMSE by training rows" in run("bench", "compare", "results").stdout
    assert "Wins-draws-losses by RMSE" in run("bench", "compare", "results", "--size", "40").stdout


def test_two_runs_cannot_write_to_one_store(run, folder):
    assert run(*RUN).exit_code == 0
    with (folder / "results" / "results.jsonl").open("ab") as file:
        fcntl = pytest.importorskip("fcntl")
        fcntl.flock(file, fcntl.LOCK_EX)
        result = run(*RUN)
    assert result.exit_code == 1
    assert "another process is writing to this store" in result.stderr
    assert "hint: wait until it has ended" in result.stderr


def test_failures_are_told_and_can_be_tried_again(run, folder):
    limited = ("bench", "run", "--sets", "iris", "--models", "nb", "--protocol", "1x2", "--workers", "1")
    result = run(*limited, "--time-limit", "0.000001")
    assert result.exit_code == 1
    assert "error: 2 of 2 cells failed" in result.stderr
    assert "nb on iris: TimeLimit: not done after 1e-06 s" in result.stderr
    assert "hint: --retry-failed" in result.stderr
    assert run(*limited).exit_code == 1  # they stay
    assert run(*limited, "--retry-failed").exit_code == 0


def test_a_folder_its_manifest_and_an_experiment(run, folder):
    write_sets(folder / "data", {f"set{number}": 100 + 10 * number for number in range(14)})
    names = "\n".join(f"set{number},{'petitjean68' if number < 3 else ''}" for number in range(14))
    (folder / "data" / "manifest.csv").write_text(f"name,seed_tables\n{names}\n")
    result = run("bench", "run", "paper000-table5", "--data", "data", "--models", "tan-m,tan-hdp", "--protocol", "1x2")
    assert result.exit_code == 0, result.stderr
    assert "3 data sets" in result.stderr
    assert "TAN-HDP vs RF" in result.stdout  # a line without figures of ours
    compared = run("bench", "compare", "results", "--experiment", "paper000-table5", "--data", "data")
    assert compared.exit_code == 0, compared.stderr
    assert "TAN-HDP vs RF" in compared.stdout
    both = run("bench", "run", "--quick", "--protocol", "3x2", "--data", "data", "--models", "nb-m", "--out", "both")
    assert "12 data sets, 1 model, 3x2" in both.stderr
    quick = run("bench", "run", "--quick", "--data", "data", "--models", "nb-m", "--out", "quick")
    assert "12 data sets, 1 model, 1x2" in quick.stderr
    assert (
        run(
            "bench", "run", "--data", "data", "--sets", "set3,petitjean68", "--models", "nb-m", "--out", "r", "--quick"
        ).exit_code
        == 0
    )
    assert len(Results.read(folder / "r" / "results.jsonl").datasets) == 4


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["run", "paper9"], 2, "'paper9' is not known; there are networks"),
        (["run", "paper000-table4"], 1, "hint: name a folder of Parquet files with --data"),
        (["run", "paper001-table4"], 1, "'wnb' is not in countwise yet"),
        (["run", "--models", "svm"], 2, "'svm' is not known"),
        (["run", "--models", ","], 2, "name at least one"),
        (["run", "--models", "wtan"], 2, "not in countwise yet"),
        (["run", "--protocol", "loo"], 2, "'loo' is not known"),
        (["run", "--sets", "nowhere"], 1, "'nowhere' is not among the computed ones: balance-scale"),
        (["run", "--data", "nowhere"], 1, "no folder 'nowhere'"),
        (["run", "--data", ".", "--sets", "nowhere"], 1, "no data set 'nowhere'"),
        (["run", "--prepare", "magic", "--sets", "iris"], 1, "prepare='magic' is not known"),
        (["run", "--memory-limit", "much"], 2, "--memory-limit: 'much' is not a size"),
        (["compare", "nowhere"], 1, "nowhere: no results there"),
        (["compare", "."], 1, "countwise bench run --out makes such a folder"),
    ],
)
def test_errors(run, args, code, message):
    result = run("bench", *args)
    assert result.exit_code == code
    assert message in " ".join(result.stderr.split())


def test_list_names_everything(run):
    text = run("bench", "list").stdout
    assert "paper000-table4" in text
    assert "[not there yet: wnb" in text
    assert "xgboost-tuned" in text


@pytest.mark.parametrize("command", ["run", "compare", "report", "list"])
def test_help_has_examples(run, command):
    result = run("bench", command, "--help")
    assert result.exit_code == 0
    assert f"countwise bench {command}" in result.stdout.split("Examples:")[1]
