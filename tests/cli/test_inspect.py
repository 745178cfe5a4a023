import json
import re

import pyarrow as pa
import pyarrow.parquet
import pytest

import countwise
from countwise.estimators import persist
from oracle.bags import Bag


def test_text(run, model):
    result = run("inspect", "m.cw")
    assert result.exit_code == 0, result.stderr
    assert "NBClassifier(" in result.stdout
    rows = {line.split()[1]: line.split() for line in result.stdout.splitlines() if line.strip()[:1].isdigit()}
    assert set(rows) == {"colour", "size", "postcode"}
    assert rows["colour"][2:4] == ["category", "3"]
    assert rows["size"][2] == "number"


def test_json_agrees_with_the_model(run, model):
    facts = json.loads(run("inspect", "m.cw", "--json").stdout)
    loaded = countwise.load(model)
    assert facts["kind"] == "NBClassifier"
    assert facts["classes"] == list(loaded.classes_)
    assert facts["params"].keys() == loaded.get_params(deep=False).keys()
    assert [a["name"] for a in facts["attributes"]] == ["colour", "size", "postcode"]
    assert facts["attributes"][0]["categories"] == ["blue", "green", "red"]
    assert facts["attributes"][2]["categories"] == ["01234", "04567", "10001"]
    assert facts["bytes"] == model.stat().st_size
    assert facts["format"] >= 1


def test_parents_and_places_are_those_of_the_structure(run, folder):
    run("fit", "train.parquet", "--target", "label", "--model", "kdb2", "--out", "k.cw")
    facts = json.loads(run("inspect", "k.cw", "--json").stdout)
    structure = countwise.load(folder / "k.cw").structure_
    names = [a["name"] for a in facts["attributes"]]
    for i, attribute in enumerate(facts["attributes"]):
        assert attribute["parents"] == [names[p] for p in structure.parents[i]]
    placed = sorted((a for a in facts["attributes"] if a["place"] is not None), key=lambda a: a["place"])
    assert [a["name"] for a in placed] == [names[i] for i in structure.order]
    assert max(len(a["parents"]) for a in facts["attributes"]) == 2


def test_one_attribute(run, model, table):
    text = run("inspect", "m.cw", "--attribute", "colour").stdout
    assert "the class" in text
    train = table.to_pydict()
    for value in ("red", "green", "blue"):
        pairs = list(zip(train["colour"], train["label"], strict=True))
        expected = [str(pairs.count((value, label))) for label in ("no", "yes")]
        assert next(line.split() for line in text.splitlines() if line.startswith(value)) == [
            value,
            *expected,
        ]


def test_one_number_as_json(run, model, table):
    facts = json.loads(run("inspect", "m.cw", "--attribute", "size", "--json").stdout)
    assert len(facts["cuts"]) == facts["n_values"] - 1 > 0
    low = sum(size <= facts["cuts"][0] for size in table.column("size").to_pylist())
    counted = next(row["counts"] for row in facts["table"] if row["value"].startswith("<="))
    assert sum(counted) == low


def test_names_with_brackets_are_not_markup(run, table, folder):
    odd = table.drop_columns(["row", "size", "postcode"]).rename_columns({"colour": "colour[/b]"})
    pa.parquet.write_table(odd, "odd.parquet")
    run("fit", "odd.parquet", "--target", "label", "--model", "nb", "--out", "odd.cw")
    assert "colour[/b]" in run("inspect", "odd.cw").stdout
    assert "colour[/b]" in run("inspect", "odd.cw", "--attribute", "colour[/b]").stdout


def test_errors(run, model, folder):
    result = run("inspect", "m.cw", "--attribute", "weight")
    assert (result.exit_code, "no attribute 'weight'" in result.stderr) == (1, True)
    assert "hint: it has colour, size, postcode" in result.stderr
    (folder / "junk.cw").write_bytes(b"junk")
    result = run("inspect", "junk.cw")
    assert (result.exit_code, "junk.cw" in result.stderr) == (1, True)


def test_tuning_is_shown_and_can_be_left_out(run):
    fit = ("fit", "train.parquet", "--target", "label", "--model", "kdb1", "--force", "--out", "t.cw")
    assert run(*fit).exit_code == 0
    tuning = json.loads(run("inspect", "t.cw", "--json").stdout)["tuning"]
    assert len(tuning["level_factor"]) == 2
    assert len(tuning["bias"]) == 2
    assert "HDP(), tuned: concentrations times" in run("inspect", "t.cw").stdout
    assert run(*fit, "--no-tune").exit_code == 0
    assert json.loads(run("inspect", "t.cw", "--json").stdout)["tuning"] is None
    result = run(*fit, "--smoothing", "hls")
    assert result.exit_code == 0, result.stderr
    assert "HLS()" in run("inspect", "t.cw").stdout


def test_weights_of_attributes_are_shown(run, folder):
    assert run("fit", "train.parquet", "--target", "label", "--model", "tuned", "--out", "w.cw").exit_code == 0
    weight = countwise.load(folder / "w.cw").tuning_.weight
    lines = [line.split() for line in run("inspect", "w.cw").stdout.splitlines() if line.strip()[:1].isdigit()]
    shown = {line[1]: line[4] for line in lines}
    assert shown == {name: f"{w:.2f}" for name, w in zip(("colour", "size", "postcode"), weight, strict=True)}


@pytest.fixture
def bag(table, folder, monkeypatch):
    monkeypatch.setitem(persist.MODELS, "Bag", Bag)
    bag = Bag((2, 3, 4)).fit(table.drop_columns(["row", "label"]), table.column("label"))
    bag.save(folder / "bag.cw")
    return bag


def test_ensembles(run, bag, table):
    facts = json.loads(run("inspect", "bag.cw", "--json").stdout)
    assert (facts["n_members"], facts["n_used"], facts["most_parents"]) == (3, 3, 2)
    assert [a["members"] for a in facts["attributes"]] == [3, 3, 3]
    shown = run("inspect", "bag.cw")
    assert shown.exit_code == 0, shown.stderr
    assert "3 members, 3 of 3 attributes used, at most 2 parents beside the class" in shown.stdout
    assert re.search(r"members +attribute +kind +most values +most parents\n +3 +colour +category", shown.stdout)
    one = json.loads(run("inspect", "bag.cw", "--attribute", "size", "--json").stdout)
    (cut,) = bag.members_[0].codec.columns[1].cuts  # the first member has two bins
    low = sum(size <= cut for size in table.column("size").to_pylist())
    assert [sum(row["counts"]) for row in one["table"] if row["value"].startswith("<=")] == [low]
    text = run("inspect", "bag.cw", "--attribute", "size").stdout
    assert "size (number, at most 4 values)" in text
    assert "3 use it, with at most" in text
    assert "each member has its own; here are those of the first" in text


def test_networks_and_trees_of_a_pool(run, folder):
    options = ["--param", "n_members=2", "--param", "n_parts=2", "--param", "n_trees=3"]
    assert run("fit", "train.parquet", "--target", "label", *options, "--out", "p.cw").exit_code == 0
    forests = countwise.load(folder / "p.cw").members_[4:]
    assert [len(forest.trees) for forest in forests] == [3, 3]
    facts = json.loads(run("inspect", "p.cw", "--json").stdout)
    assert (facts["n_members"], facts["n_trees"]) == (4, 6)
    splitting = [sum(i in tree.splits.column for forest in forests for tree in forest.trees) for i in range(3)]
    assert [attribute["trees"] for attribute in facts["attributes"]] == splitting
    text = run("inspect", "p.cw").stdout
    assert "4 networks and 6 trees, 3 of 3 attributes used" in text
    header = next(line for line in text.splitlines() if line.startswith("networks"))
    assert header.split() == ["networks", "trees", "attribute", "kind", "most", "values", "most", "parents"]
    table = json.loads(run("inspect", "p.cw", "--attribute", "size", "--json").stdout)["table"]
    assert sum(sum(row["counts"]) for row in table) == sum(facts["class_counts"])
    text = run("inspect", "p.cw", "--attribute", "size").stdout
    size = next(attribute for attribute in facts["attributes"] if attribute["name"] == "size")
    assert f"networks    {size['members']} use it" in text
    assert f"trees       {size['trees']} split on it" in text
    assert "each network has its own; here are those of the first" in text


def test_cuts_of_times_are_times(run, table):
    days = pa.array([f"2024-01-{1 + i % 28:02}" for i in range(len(table))]).cast(pa.timestamp("us"))
    pa.parquet.write_table(table.drop_columns(["row"]).append_column("day", days), "days.parquet")
    options = ["--model", "nb", "--param", "discretiser=equal-width"]
    assert run("fit", "days.parquet", "--target", "label", *options, "--out", "d.cw").exit_code == 0
    text = run("inspect", "d.cw", "--attribute", "day").stdout
    assert next(line for line in text.splitlines() if line.startswith("cuts")).split()[1].startswith("2024-01-0")


@pytest.mark.parametrize(("name", "n_trees"), [("tree", 1), ("forest-laplace", 10)])
def test_grown_trees(run, folder, name, n_trees):
    result = run("fit", "train.parquet", "--target", "label", "--model", name, "--out", "t.cw")
    assert result.exit_code == 0, result.stderr
    loaded = countwise.load(folder / "t.cw")
    facts = json.loads(run("inspect", "t.cw", "--json").stdout)
    splits = [sum(int((tree.splits.column == i).sum()) for tree in loaded.trees_) for i in range(3)]
    assert [attribute["splits"] for attribute in facts["attributes"]] == splits
    assert facts["n_members"] == n_trees
    assert facts["n_leaves"] == sum(tree.n_leaves for tree in loaded.trees_)
    text = run("inspect", "t.cw").stdout
    assert f"{facts['n_leaves']:,} leaves" in text
    assert "colour" in text
    text = run("inspect", "t.cw", "--attribute", "size").stdout
    assert f"splits      {splits[1]}" in text
    assert "cuts" in text
    assert run("predict", "t.cw", "train.parquet").exit_code == 0
