"""Trees as text and rules say what the model does."""

import numpy as np
import pytest

import countwise as cw
from countwise.errors import DataError
from oracle.grown import X, Y

MODEL = cw.ProbabilityTreeClassifier(thresholds="sharp").fit(X, Y)
IN_SETS = cw.ProbabilityTreeClassifier(thresholds="sharp", category_splits="binary").fit(X, Y)


def holds(rule, row):
    """Whether a row fulfils the conditions of a rule."""
    for part in rule.split(" and "):
        name, sign, value = part.split(" ", 2)
        own = row[name]
        gap = own is None or own != own
        if sign == "in":
            right = ("(missing)" if gap else own) in value.strip("{}").split(", ")
        elif value == "(missing)":
            right = gap
        elif sign == "=":
            right = own == value
        else:
            right = not gap and (own <= float(value) if sign == "<=" else own > float(value))
        if not right:
            return False
    return True


@pytest.mark.parametrize("model", [MODEL, IN_SETS], ids=["multiway", "binary"])
def test_rules_are_the_leaves(model):
    table = cw.rules(model).to_pandas()
    assert any(" in {" in rule for rule in table["rule"]) == (model is IN_SETS)
    assert len(table) == model.n_leaves_
    assert (np.diff(table["rows"]) <= 0).all()
    met = np.array([[holds(rule, row) for rule in table["rule"]] for row in X.to_dict("records")])
    assert (met.sum(axis=1) == 1).all()
    assert np.array_equal(met.sum(axis=0), table["rows"])
    p = table[["p_maybe", "p_no", "p_yes"]].to_numpy()
    np.testing.assert_allclose(p[met.argmax(axis=1)], model.predict_proba(X))
    assert np.array_equal(table["prediction"][met.argmax(axis=1)], model.predict(X))


def test_rules_of_soft_thresholds_are_those_of_the_best_ones():
    soft, sharp = (cw.rules(model) for model in (cw.ProbabilityTreeClassifier().fit(X, Y), MODEL))
    assert soft.equals(sharp)


def test_text_has_a_line_for_every_node():
    lines = cw.export_text(MODEL).splitlines()
    assert len(lines) == MODEL.tree_.n_nodes
    depth = [line.count("|   ") + line.count("|-- ") for line in lines]
    assert np.array_equal(np.bincount(depth), np.diff(MODEL.tree_.level_ptr))
    assert sum(float(line.split(": ")[1].split(" rows")[0]) for line in lines) == MODEL.tree_.total.sum()
    assert len(cw.export_text(MODEL, max_depth=1).splitlines()) == MODEL.tree_.level_ptr[2]
    assert any("(missing)" in line for line in lines)


def test_trees_of_a_forest_and_many_classes():
    forest = cw.ProbabilityForestClassifier(2).fit(X, Y)
    texts = [cw.export_text(forest, tree=t) for t in range(2)]
    assert texts[0] != texts[1]
    assert len(cw.rules(forest, tree=1)) == forest.trees_[1].n_leaves
    many = cw.ProbabilityTreeClassifier().fit(np.arange(60.0)[:, None], np.arange(60) % 6)
    assert cw.export_text(many, max_depth=0).endswith(", ...")


def test_wrong_models():
    with pytest.raises(DataError, match="the model has 1 tree"):
        cw.export_text(MODEL, tree=1)
    with pytest.raises(DataError, match="not a classifier of grown trees"):
        cw.rules(cw.NBClassifier().fit(X, Y))
