import gzip
import math

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import countwise


@pytest.fixture
def expected(model):
    """What the model says in Python."""
    classifier = countwise.load(model)
    new = pa.parquet.read_table("new.parquet")
    return classifier.predict_proba(new.select(["colour", "size", "postcode"]))


def read(path):
    if path.endswith(".parquet"):
        return pa.parquet.read_table(path)
    if path.endswith(".arrow"):
        return pa.feather.read_table(path)
    delimiter = "\t" if path.endswith(".tsv") else ","
    return pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(delimiter=delimiter))


@pytest.mark.parametrize("out", ["p.parquet", "p.csv", "p.csv.gz", "p.tsv", "p.arrow"])
@pytest.mark.parametrize("new", ["new.parquet", "new.csv", "new.tsv"])
def test_output_is_what_the_model_says_in_any_format(run, expected, new, out):
    result = run("predict", "m.cw", new, "--out", out, "--id", "row")
    assert result.exit_code == 0, result.stderr
    table = read(out)
    assert table.column_names == ["row", "prediction", "p_no", "p_yes"]
    assert table.column("row").to_pylist() == list(range(100))
    assert np.allclose(np.column_stack([table.column("p_no"), table.column("p_yes")]), expected)
    assert table.column("prediction").to_pylist() == np.array(["no", "yes"])[expected.argmax(axis=1)].tolist()


def test_text_that_looks_like_numbers_stays_text_in_csv(run, expected):
    """Read as a number, 01234 would be an unseen category and the probabilities would differ."""
    run("predict", "m.cw", "new.csv", "--out", "p.csv")
    assert np.allclose(read("p.csv").column("p_no"), expected[:, 0])


def test_stdout_is_csv_and_the_log_is_elsewhere(run, expected):
    result = run("predict", "m.cw", "new.csv")
    lines = result.stdout.splitlines()
    assert lines[0] == "prediction,p_no,p_yes"
    assert len(lines) == 101
    assert float(lines[1].split(",")[1]) == pytest.approx(expected[0, 0])
    assert "predicted 100 rows" in result.stderr


def test_batches_change_nothing_and_are_as_small_as_asked(run, expected, monkeypatch):
    sizes = []
    real = countwise.load

    def watched(path):
        model = real(path)
        predict = model.predict_proba
        model.predict_proba = lambda X: sizes.append(len(X)) or predict(X)
        return model

    monkeypatch.setattr(countwise, "load", watched)
    result = run("predict", "m.cw", "new.parquet", "--out", "p.parquet", "--batch-size", 7)
    assert result.exit_code == 0, result.stderr
    assert sizes == [7] * 14 + [2]
    assert np.allclose(read("p.parquet").column("p_yes"), expected[:, 1])


def test_without_probabilities(run):
    assert run("predict", "m.cw", "new.csv", "--no-proba").exit_code == 1  # no model was made
    run("fit", "train.csv", "--target", "label", "--model", "nb", "--out", "m.cw")
    lines = run("predict", "m.cw", "new.csv", "--no-proba").stdout.splitlines()
    assert lines[0] == "prediction"
    assert {line.strip('"') for line in lines[1:]} == {"no", "yes"}


def test_logarithms(run, expected):
    lines = run("predict", "m.cw", "new.csv", "--log").stdout.splitlines()
    assert lines[0] == "prediction,log_p_no,log_p_yes"
    assert float(lines[1].split(",")[1]) == pytest.approx(math.log(expected[0, 0]))


def test_the_target_and_strange_columns_are_ignored(run, expected, folder):
    table = pa.parquet.read_table("new.parquet")
    table = table.drop_columns(["label"]).append_column("other", pa.array(["?"] * 100))
    pa.parquet.write_table(table.select(["other", "size", "postcode", "colour"]), "shuffled.parquet")
    assert run("predict", "m.cw", "shuffled.parquet", "--out", "p.parquet").exit_code == 0
    assert np.allclose(read("p.parquet").column("p_yes"), expected[:, 1])


def test_no_rows_give_a_table_without_rows(run, model):
    pa.parquet.write_table(pa.parquet.read_table("new.parquet")[:0], "none.parquet")
    assert run("predict", "m.cw", "none.parquet", "--out", "p.parquet").exit_code == 0
    assert read("p.parquet").schema.names == ["prediction", "p_no", "p_yes"]
    assert len(read("p.parquet")) == 0


def test_an_old_output_is_replaced_only_by_a_whole_one(run, model, folder):
    (folder / "p.csv").write_text("old")
    (folder / "bad.csv").write_text("colour,size,postcode\nred,1.0,01234\nred,tall,01234\n")
    result = run("predict", "m.cw", "bad.csv", "--out", "p.csv")
    assert result.exit_code == 1
    assert (folder / "p.csv").read_text() == "old"
    assert run("predict", "m.cw", "new.csv", "--out", "p.csv").exit_code == 0
    assert (folder / "p.csv").read_text() != "old"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["m.cw", "narrow.csv", "--out", "p.csv"], "columns missing from the new data: 'size', 'postcode'"),
        (["m.cw", "new.csv", "--out", "p.csv", "--id", "nobody"], "'nobody'"),
        (["m.cw", "new.csv", "--out", "p.xlsx"], "p.xlsx: the format is not known"),
        (["m.cw", "new.csv", "--out", "new.csv"], "new.csv: is also an input"),
        (["m.cw", "new.csv", "new.parquet", "--out", "p.csv"], "several formats"),
        (["train.csv", "new.csv", "--out", "p.csv"], "train.csv"),
        (["absent.cw", "new.csv", "--out", "p.csv"], "absent.cw"),
    ],
)
def test_errors_exit_with_1_and_leave_no_file(run, model, folder, args, message):
    (folder / "narrow.csv").write_text("colour\nred\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    result = run("predict", *args)
    assert result.exit_code == 1
    assert message in result.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_an_id_cannot_have_the_name_of_an_output(run, model, table):
    table = pa.parquet.read_table("new.parquet").rename_columns({"row": "prediction"})
    pa.parquet.write_table(table, "odd.parquet")
    result = run("predict", "m.cw", "odd.parquet", "--id", "prediction")
    assert result.exit_code == 1
    assert "two output columns would be called 'prediction'" in result.stderr


def test_compressed_output_is_compressed(run, model, folder):
    run("predict", "m.cw", "new.csv", "--out", "p.csv.gz")
    assert gzip.decompress((folder / "p.csv.gz").read_bytes()).startswith(b"prediction,p_no,p_yes\n")


def test_csv_with_dates_and_gaps_is_read_as_in_training(run, folder):
    rows = [f"{'ab'[i % 2]},{i % 5 or ''},2020-0{1 + i % 9}-01,0{i % 3}00,{'yn'[i % 2]}" for i in range(60)]
    (folder / "t.csv").write_text("\n".join(["word,n,day,zip,label", *rows]) + "\n")
    assert run("fit", "t.csv", "--target", "label", "--model", "nb", "--out", "t.cw").exit_code == 0
    result = run("predict", "t.cw", "t.csv", "--id", "zip", "--id", "day")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[1].startswith('"0000",2020-01-01,"y"')


def test_a_value_that_is_no_number_is_named(run, model, folder):
    (folder / "bad.csv").write_text("colour,size,postcode\nred,1.0,01234\nred,tall,01234\n")
    result = run("predict", "m.cw", "bad.csv")
    assert result.exit_code == 1
    assert "error: bad.csv, row 3: column 'size' holds 'tall', which is not a number" in result.stderr
    assert run("predict", "m.cw", "bad.csv", "--null", "tall").exit_code == 0


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_dates_that_are_text_are_asked_for_as_dates(run, folder, kind):
    (folder / "d.csv").write_text("day,label\n" + "".join(f"2020-01-{i + 10},{'yn'[i % 2]}\n" for i in range(20)))
    assert run("fit", "d.csv", "--target", "label", "--model", "nb", "--out", "d.cw").exit_code == 0
    new = pa.table({"day": ["01.02.2020", "02.02.2020"]})
    pa.csv.write_csv(new, "n.csv")
    pa.parquet.write_table(new, "n.parquet")
    told = run("predict", "d.cw", f"n.{kind}").stderr
    assert "column 'day' should hold timestamps and holds text (for example '01.02.2020')" in told
    assert "--null" not in told


def test_logarithms_of_nothing_are_refused(run, model):
    result = run("predict", "m.cw", "new.csv", "--log", "--no-proba")
    assert result.exit_code == 2
    assert "--no-proba leaves out" in " ".join(result.stderr.split())
