import json

import countwise


def test_text(run, model):
    result = run("inspect", "m.cw")
    assert result.exit_code == 0, result.stderr
    assert "NBClassifier(" in result.stdout
    rows = {
        line.split()[1]: line.split() for line in result.stdout.splitlines() if line.strip()[:1].isdigit()
    }
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


def test_one_attribute(run, model):
    text = run("inspect", "m.cw", "--attribute", "colour").stdout
    assert "blue, green, red" in text
    assert "the class" in text
    assert json.loads(run("inspect", "m.cw", "--attribute", "size", "--json").stdout)["cuts"]


def test_errors(run, model, folder):
    result = run("inspect", "m.cw", "--attribute", "weight")
    assert (result.exit_code, "no attribute 'weight'" in result.stderr) == (1, True)
    assert "hint: it has colour, size, postcode" in result.stderr
    (folder / "junk.cw").write_bytes(b"junk")
    result = run("inspect", "junk.cw")
    assert (result.exit_code, "junk.cw" in result.stderr) == (1, True)
