import json

import pytest
from threadpoolctl import threadpool_limits

import countwise
from countwise.evaluate import cross_validate

EVALUATE = ("evaluate", "train.parquet", "--target", "label", "--repeats", "2")


def test_table_on_stdout(run):
    result = run(*EVALUATE, "--models", "nb,skdb")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].strip() == "2 times 2-fold stratified cross-validation"
    assert lines[1].split()[:4] == ["dataset", "model", "rmse", "log_loss"]
    assert [line.split()[:2] for line in lines[3:5]] == [["train", "nb"], ["train", "skdb"]]
    assert "bench" in result.stderr


def test_json_has_the_numbers_of_the_python_call(run, table):
    result = json.loads(run(*EVALUATE, "--models", "nb", "--folds", "3", "--seed", "4", "--json").stdout)
    train = table.drop_columns(["row"])
    data = {"train": (train.drop_columns(["label"]), train.column("label"))}
    model = countwise.NBClassifier(random_state=4)
    expected = cross_validate({"nb": model}, data, n_repeats=2, n_splits=3, random_state=4)
    assert len(result["rows"]) == 6
    assert [row["rmse"] for row in result["rows"]] == pytest.approx([row["rmse"] for row in expected.rows])
    assert result["summary"][0]["log_loss"] == pytest.approx(expected.summary()[0]["log_loss"])


def test_columns_can_be_left_out(run, table):
    names = [name for name in table.column_names if name not in ("label", "row")]
    scores = [
        json.loads(run(*EVALUATE, "--models", "nb", *drop, "--json").stdout)["summary"][0]["log_loss"]
        for drop in ([], ["--drop", ",".join(names[1:])])
    ]
    assert scores[0] != pytest.approx(scores[1])
    assert "'nothing' is not an attribute" in run(*EVALUATE, "--drop", "nothing").stderr


def test_the_pool_comes_first_by_default(run):
    result = json.loads(run(*EVALUATE[:4], "--repeats", "1", "--json").stdout)
    assert [line["model"] for line in result["summary"]] == ["pool", "nb", "tan", "skdb"]


def test_rivals_learn_something(run):
    names = ("rf", "hgb", "logistic")
    with threadpool_limits(1):  # threads that wait for each other are slow on a busy machine
        result = json.loads(run(*EVALUATE[:4], "--repeats", "1", "--models", ",".join(names), "--json").stdout)
    errors = {line["model"]: line["zero_one_loss"] for line in result["summary"]}
    assert set(errors) == set(names)
    assert all(error < 0.4 for error in errors.values())


def test_a_computed_set(run):
    result = run("evaluate", "--dataset", "monks-1", "--models", "nb", "--repeats", "1", "--json")
    assert json.loads(result.stdout)["summary"][0]["dataset"] == "monks-1"


def test_the_store_is_taken_up(run, folder):
    run(*EVALUATE, "--models", "nb", "--store", "r.jsonl")
    first = (folder / "r.jsonl").read_text()
    again = run(*EVALUATE, "--models", "nb", "--store", "r.jsonl")
    assert again.exit_code == 0
    assert (folder / "r.jsonl").read_text() == first
    other = run(*EVALUATE, "--models", "nb", "--store", "r.jsonl", "--seed", "9")
    assert other.exit_code == 1
    assert "random_state: 0 there, 9 now" in other.stderr
    assert "hint: use another store" in other.stderr


def test_a_failing_model_is_told_of_and_the_others_shown(run, monkeypatch):
    def fail(self, X, y=None):
        raise RuntimeError("no luck today")

    monkeypatch.setattr(countwise.TANClassifier, "fit", fail)
    result = run(*EVALUATE, "--models", "nb,tan")
    assert result.exit_code == 1
    assert "error: 4 of 8 cells failed" in result.stderr
    assert "tan on train: RuntimeError: no luck today" in result.stderr
    assert [line.split()[:3] for line in result.stdout.splitlines()[4:5]] == [["train", "tan", "-"]]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["train.parquet"], 2, "--target"),
        ([], 2, "either DATA"),
        (["train.parquet", "--dataset", "monks-1"], 2, "either DATA"),
        (["train.parquet", "--target", "label", "--models", "nb,svm"], 2, "'svm' is not known"),
        (["train.parquet", "--target", "label", "--models", ","], 2, "name at least one"),
        (["train.parquet", "--target", "label", "--folds", "1"], 2, "folds"),
        (["train.parquet", "--target", "lable"], 1, "column 'lable' is not in the data"),
        (["--dataset", "no-such-set"], 1, "no-such-set"),
    ],
)
def test_errors(run, args, code, message):
    result = run("evaluate", *args)
    assert result.exit_code == code
    assert message in " ".join(result.stderr.split())


def test_rows_without_a_class_are_an_error(run, folder):
    (folder / "gaps.csv").write_text("a,label\nx,yes\ny,\nx,no\n")
    result = run("evaluate", "gaps.csv", "--target", "label", "--models", "nb")
    assert result.exit_code == 1
    assert "1 of 3 are missing" in result.stderr
