"""``countwise bench report``: a page, its files, and what is refused."""

import sys

import pyarrow as pa
import pyarrow.parquet
import pytest

from countwise.datasets import load_balance_scale

RUN = (
    "bench",
    "run",
    "--sets",
    "iris,monks-1",
    "--models",
    "nb-m,tan-m,tan-hdp",
    "--protocol",
    "1x2",
    "--workers",
    "1",
)


@pytest.fixture
def results(run):
    result = run(*RUN)
    assert result.exit_code == 0, result.stderr


def test_a_run_becomes_a_page_and_files(run, results, folder):
    result = run("bench", "report", "results", "--out", "page.html", "--files", "docs/files", "--measures", "rmse")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert "page in page.html" in result.stderr
    page = (folder / "page.html").read_text(encoding="utf-8")
    for text in ("<title>3 models on 2 data sets</title>", "tan-hdp", "monks-1", "45-4-19", "<svg"):
        assert text in page
    files = {path.name for path in (folder / "docs/files").iterdir()}
    assert f"{len(files)} files in docs/files" in result.stderr
    assert {"means-over-data-sets.csv", "reliability-diagram.png", "reliability-diagram.svg"} <= files
    assert {path.suffix for path in (folder / "docs/files").iterdir()} == {".csv", ".png", ".svg"}


def test_models_measures_and_experiment_are_chosen(run, results, folder):
    args = ("--models", "tan-hdp,tan-m", "--measures", "roc_auc", "--experiment", "paper000-table4")
    result = run("bench", "report", "results", *args)
    assert result.exit_code == 0, result.stderr
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<title>2 models on 2 data sets</title>" in page
    assert "nb-m" not in page
    assert "ROC AUC: every data set" in page
    assert "Log loss: every data set" not in page


def test_the_manifest_of_a_folder_names_the_data_sets_of_the_papers(run, results, folder):
    (folder / "data").mkdir()
    pa.parquet.write_table(load_balance_scale().to_arrow(), "data/iris.parquet")
    (folder / "data/manifest.csv").write_text("name,seed_tables\niris,petitjean68;other\n")
    result = run("bench", "report", "results", "--data", "data", "--measures", "rmse")
    assert result.exit_code == 0, result.stderr
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Over the experiment&#x27;s 1 data set." in page
    missing = run("bench", "report", "results", "--data", "nowhere")
    assert missing.exit_code == 1
    assert "nowhere" in missing.stderr


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("--experiment", "paper9"), 2, "experiment 'paper9' is not known"),
        (("--models", "svm"), 1, "model 'svm' is not in these results"),
        (("--measures", "speed"), 1, "measure 'speed' is not in these results"),
        (("--out", "nowhere/page.html"), 1, "nowhere: no such directory"),
        (("--files", "train.csv"), 1, "train.csv: is a file"),
    ],
)
def test_bad_inputs_are_refused(run, results, folder, args, code, message):
    result = run("bench", "report", "results", *args)
    assert result.exit_code == code
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert not (folder / "report.html").exists()


def test_a_folder_without_results_is_refused(run, folder):
    result = run("bench", "report", "nothing")
    assert result.exit_code == 1
    assert "nothing: no results there" in result.stderr


def test_without_matplotlib_it_says_what_to_install(run, results, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("bench", "report", "results")
    assert result.exit_code == 1
    assert "pip install 'countwise[plot]'" in result.stderr
    assert not (folder / "report.html").exists()
