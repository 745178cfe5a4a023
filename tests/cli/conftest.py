import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.testing import CliRunner


def make_table(n_rows=300, seed=0):
    """Postcodes are text that looks like numbers; the class follows from colour and size, with some noise."""
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue"], n_rows)
    size = rng.normal(size=n_rows).round(3)
    noise = rng.random(n_rows) < 0.1
    label = np.where((colour == "red") ^ (size > 0.5) ^ noise, "yes", "no")
    columns = {
        "row": np.arange(n_rows),
        "colour": colour,
        "size": size,
        "postcode": rng.choice(["01234", "04567", "10001"], n_rows),
        "label": label,
    }
    return pa.table(columns)


@pytest.fixture
def table():
    return make_table()


@pytest.fixture
def folder(tmp_path, monkeypatch, table):
    """A working directory with train.parquet, train.csv, new.parquet, new.csv and new.tsv."""
    monkeypatch.chdir(tmp_path)
    train = table.drop_columns(["row"])
    pa.parquet.write_table(train, "train.parquet")
    pa.csv.write_csv(train, "train.csv")
    pa.parquet.write_table(make_table(100, seed=1), "new.parquet")
    pa.csv.write_csv(make_table(100, seed=1), "new.csv")
    pa.csv.write_csv(make_table(100, seed=1), "new.tsv", pa.csv.WriteOptions(delimiter="\t"))
    return tmp_path


@pytest.fixture
def run(folder):
    """Run the application in this process: ``run("fit", ...)``."""
    from countwise.cli.app import app

    def call(*args, **kwargs):
        return CliRunner().invoke(app, list(map(str, args)), catch_exceptions=False, **kwargs)

    return call


@pytest.fixture
def model(run, folder):
    result = run("fit", "train.parquet", "--target", "label", "--model", "nb", "--out", "m.cw")
    assert result.exit_code == 0, result.stderr
    return folder / "m.cw"


@pytest.fixture
def shell(folder):
    """Start the real command in a process of its own, after some Python code."""

    def start(*args, code="", **kwargs):
        source = f"{code}\nfrom countwise.cli import main; main()"
        env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([sys.executable, "-c", source, *args], env=env, **(pipes | kwargs))

    return start
