import json
import re

import pyarrow as pa
import pyarrow.parquet
import pytest

import countwise
from countwise.estimators.names import NETWORKS

FIT = ("fit", "train.parquet", "--target", "label", "--out", "m.cw")


@pytest.mark.parametrize("name", [*NETWORKS, "tan-m"])
def test_every_model_name_gives_a_model_that_loads(run, folder, name):
    result = run(*FIT, "--model", name)
    assert result.exit_code == 0, result.stderr
    model = countwise.load(folder / "m.cw")
    assert type(model).__name__ == NETWORKS[name.partition("-")[0]][0]
    assert list(model.classes_) == ["no", "yes"]
    if "kdb" in name and name[-1].isdigit():
        assert model.get_params()["k"] == int(name[-1])


def test_log_on_stderr_and_nothing_on_stdout(run):
    result = run(*FIT)
    assert result.stdout == ""
    assert "3 attributes, 2 classes" in result.stderr
    assert "saved   m.cw" in result.stderr
    steps = ["reading columns", "sampling rows", "searching parents", "growing trees", "counting contexts"]
    steps += ["smoothing", "tuning parts"]
    shown = [line.partition(" [")[0] for line in result.stderr.splitlines() if " [" in line]
    assert shown == [*steps, "saving arrays"]


def test_json_is_one_object_on_stdout(run, folder):
    facts = json.loads(run(*FIT, "--json").stdout)
    assert facts["classes"] == ["no", "yes"]
    assert facts["n_attributes"] == 3
    assert facts["bytes"] == (folder / "m.cw").stat().st_size


def test_parameters_reach_the_model(run, folder):
    options = ["--model", "kdb", "--param", "k=2", "--jobs", "1", "--max-memory", "1GB", "--seed", "5"]
    assert run(*FIT, *options, "--json").exit_code == 0
    params = countwise.load(folder / "m.cw").get_params()
    assert params["k"] == 2
    assert params.get("n_jobs", 1) == 1
    assert params["max_memory"] == "1GB"
    assert params.get("random_state", 5) == 5


def test_the_pool_is_the_default_and_takes_parameters(run, folder):
    options = ["--param", "n_members=2", "--param", "n_parts=2", "--param", "k=1", "--jobs", "2", "--seed", "5"]
    result = run(*FIT, *options)
    assert result.exit_code == 0, result.stderr
    assert "PoolClassifier: 4 networks and 16 trees" in result.stderr
    params = countwise.load(folder / "m.cw").get_params()
    assert [params[key] for key in ("n_members", "n_parts", "k", "n_jobs", "random_state")] == [2, 2, 1, 2, 5]


def test_columns_can_be_left_out(run, folder):
    names = [name for name in pa.parquet.read_table("train.parquet").column_names if name != "label"]
    assert run(*FIT, "--model", "nb", "--drop", names[0]).exit_code == 0
    assert list(countwise.load(folder / "m.cw").feature_names_in_) == names[1:]
    assert run("predict", "m.cw", "train.parquet").exit_code == 0  # what it does not need may be there
    result = run(*FIT, "--force", "--drop", "nothing")
    assert result.exit_code == 1
    assert "--drop: 'nothing' is not an attribute" in result.stderr
    assert run(*FIT, "--force", "--drop", "label").exit_code == 1


def test_categorical_makes_a_number_a_category(run, folder, table):
    numbers = table.append_column("digit", pa.array([i % 4 for i in range(len(table))]))
    pa.parquet.write_table(numbers.drop_columns(["row"]), "train.parquet")

    def kind(*options):
        facts = json.loads(run(*FIT, "--force", "--json", *options).stdout)
        return next(a["kind"] for a in facts["attributes"] if a["name"] == "digit")

    assert kind() == "number"
    assert kind("--categorical", "digit") == "category"


def test_weights_are_no_attribute_and_count(run, table):
    weight = [1.0 if label == "yes" else 0.0 for label in table.column("label").to_pylist()]
    weight[table.column("label").to_pylist().index("no")] = 1.0  # both classes must be there
    weighted = table.append_column("w", pa.array(weight)).drop_columns(["row"])
    pa.parquet.write_table(weighted, "train.parquet")
    result = run(*FIT, "--model", "nb", "--weight", "w", "--json")
    assert json.loads(result.stdout)["n_attributes"] == 3
    lines = run("predict", "m.cw", "new.csv").stdout.splitlines()[1:]
    assert all(line.split(",")[0].strip('"') == "yes" for line in lines)
    assert " rows, 3 attributes" in run(*FIT, "--force", "--model", "nb", "--weight", "w").stderr
    halves = weighted.set_column(weighted.column_names.index("w"), "w", pa.array([w / 2 for w in weight]))
    pa.parquet.write_table(halves, "train.parquet")
    assert " rows by weight, 3 attributes" in run(*FIT, "--force", "--model", "nb", "--weight", "w").stderr
    assert re.search(r"rows +[\d.]+ by weight\n", run("inspect", "m.cw").stdout)


def test_several_files_and_a_glob_are_one_table(run, table, folder):
    train = table.drop_columns(["row"])
    (folder / "parts").mkdir()
    pa.parquet.write_table(train[:100], "parts/a.parquet")
    pa.parquet.write_table(train[100:], "parts/b.parquet")
    whole = run(*FIT, "--model", "nb")
    assert whole.exit_code == 0
    expected = run("predict", "m.cw", "new.csv").stdout
    for paths in (["parts/*.parquet"], ["parts/a.parquet", "parts/b.parquet"], ["parts"]):
        result = run("fit", *paths, "--target", "label", "--model", "nb", "--out", "m.cw", "--force")
        assert result.exit_code == 0, result.stderr
        assert run("predict", "m.cw", "new.csv").stdout == expected


def test_an_existing_file_is_kept_without_force(run, folder):
    (folder / "m.cw").write_text("precious")
    result = run(*FIT)
    assert result.exit_code == 1
    assert "error: m.cw: exists already" in result.stderr
    assert "hint: choose another name or pass --force" in result.stderr
    assert (folder / "m.cw").read_text() == "precious"
    assert run(*FIT, "--force").exit_code == 0
    assert countwise.load(folder / "m.cw") is not None


@pytest.mark.parametrize("train", ["train.csv", "./train.csv", "train.*"])
def test_an_input_is_never_replaced(run, folder, train):
    before = (folder / "train.csv").read_bytes()
    result = run("fit", train, "--target", "label", "--out", folder / "train.csv", "--force")
    assert result.exit_code == 1
    assert "train.csv: is also an input" in " ".join(result.stderr.split())
    assert (folder / "train.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["fit", "absent.parquet", "--target", "label", "--out", "x.cw"],
            "error: no file matches absent.parquet",
        ),
        (["fit", "train.parquet", "--target", "nothing", "--out", "x.cw"], "'nothing'"),
        (
            ["fit", "train.parquet", "--target", "label", "--out", "no/where/x.cw"],
            "no/where: no such directory",
        ),
    ],
)
def test_data_errors_exit_with_1_and_leave_no_file(run, folder, args, message):
    before = sorted(folder.iterdir())
    result = run(*args)
    assert result.exit_code == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "svm"], "'svm' is not known; there are nb"),
        (["--param", "k"], "name=value"),
        (["--param", "depth=3"], "has no parameter 'depth'"),
        (["--model", "pool-m"], "pool smooths by HDP and tunes it, always; use pool"),
        (["--smoothing", "m"], "pool needs smoothing='hdp'"),
        (["--no-tune"], "--no-tune: is for single networks such as skdb, not for pool"),
        (["--max-memory", "lots"], "not a size"),
        (["--type", "postcode=digits"], "COLUMN=text or COLUMN=number, got postcode=digits"),
        (["--no-such-option"], "No such option"),
    ],
)
def test_usage_errors_exit_with_2(run, folder, options, message):
    result = run(*FIT, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not (folder / "m.cw").exists()


def test_debug_shows_the_traceback(run):
    result = run("fit", "absent.parquet", "--target", "label", "--out", "x.cw", "--debug")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "error: no file matches absent.parquet" in result.stderr


def test_numbers_that_were_read_as_text_are_told(run, folder):
    rows = "".join(f'{20 + i},"{i},5",{i}-x,{"yn"[i % 2]}\n' for i in range(10))
    (folder / "t.csv").write_text("age,price,word,label\n?,1,2-x,y\n" + rows)
    told = run("fit", "t.csv", "--target", "label", "--model", "nb", "--out", "m.cw").stderr
    assert "column 'age' was read as text, as it holds '?'; if that means missing, say --null '?'" in told
    assert "column 'price' was read as text: numbers need points, not commas" in told
    assert "'word'" not in told
    told = run("fit", "t.csv", "--target", "label", "--model", "nb", "--out", "m.cw", "--force", "--null", "?").stderr
    assert "'age'" not in told


def test_files_that_are_not_utf_8_or_ragged(run, folder):
    (folder / "latin.csv").write_bytes("größe,label\n1,y\n".encode("latin1"))
    told = run("fit", "latin.csv", "--target", "label", "--out", "m.cw").stderr
    assert "latin.csv: the header is not UTF-8 text; convert the file" in told
    (folder / "ragged.csv").write_text("a;b;label\n1,5;2;x\n")
    assert "--delimiter" in run("fit", "ragged.csv", "--target", "label", "--out", "m.cw").stderr


def test_csv_options(run, folder):
    (folder / "t.csv").write_text("a;b;label\n" + "1;?;y\n2;x;n\n" * 20)
    plain = run("fit", "t.csv", "--target", "label", "--model", "nb", "--out", "m.cw")
    assert plain.exit_code == 1
    assert "--delimiter" in plain.stderr
    options = ["--delimiter", ";", "--null", "?", "--type", "a=text"]
    assert run("fit", "t.csv", "--target", "label", "--model", "nb", "--out", "m.cw", *options).exit_code == 0
    columns = countwise.load(folder / "m.cw").codec_.columns
    assert [c.labels for c in columns] == [["1", "2"], ["x", "(missing)"]]


def test_errors_about_standard_input_say_so(shell, folder):
    process = shell("fit", "-", "--target", "nothing", "--out", "x.cw")
    _, err = process.communicate((folder / "train.csv").read_bytes(), timeout=60)
    assert process.returncode == 1
    assert b"error: target column 'nothing' is not in standard input" in err
