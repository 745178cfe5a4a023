"""What people do in notebooks and with scikit-learn's tools."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import countwise as cw

X, Y = load_iris(return_X_y=True, as_frame=True)
WORDS = X.assign(wide=np.where(X["petal width (cm)"] > 1, "wide", None))


def test_fit_again_on_other_data_forgets_the_first():
    model = cw.SKDBClassifier(k=1).fit(WORDS, Y)
    model.fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), cw.SKDBClassifier(k=1).fit(X, Y).predict_proba(X))
    assert list(model.feature_names_in_) == list(X)
    model.fit(X.to_numpy(), Y)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_one_row_at_a_time(n_jobs):
    for table in (WORDS, X, X.to_numpy()):
        model = cw.KDBClassifier(k=2, n_jobs=n_jobs).fit(table, Y)
        whole = model.predict_proba(table)
        for i in (0, 60, 149):
            row = table[i : i + 1]
            np.testing.assert_array_equal(model.predict_proba(row), whole[i : i + 1])


def test_intervals_of_frames_arrays_and_single_rows():
    names = ["low", "high"]
    for table in (WORDS, X.to_numpy()):
        model = cw.TANClassifier().fit(table, np.array(["a", "b", "c"])[Y])
        proba, limits = model.predict_proba(table), model.predict_proba_interval(table, level=0.8)
        low, high = np.moveaxis(limits, 2, 0)
        assert pd.DataFrame(limits[:, list(model.classes_).index("b")], columns=names)["low"].max() > 0.5
        assert ((low <= proba) & (proba <= high)).all()
        for i in (0, 77, 149):
            np.testing.assert_array_equal(model.predict_proba_interval(table[i : i + 1], 0.8), limits[i : i + 1])


QUICK = cw.PoolClassifier(n_members=2, n_parts=2, k=1, n_trees=2)


@pytest.mark.parametrize("make", [cw.KDBClassifier(k=1), cw.TunedKDBClassifier(k=1), QUICK, cw.AnDEClassifier()])
def test_probabilities_are_let_go_once_they_are_compiled_and_smoothed_again_for_intervals(make):
    model, untouched = clone(make).fit(WORDS, Y), clone(make).fit(WORDS, Y)
    proba = model.predict_proba(WORDS)
    assert model._derived.parameters is None
    limits = model.predict_proba_interval(WORDS)
    assert model._derived.parameters is None
    np.testing.assert_array_equal(limits, untouched.predict_proba_interval(WORDS))
    np.testing.assert_array_equal(proba, untouched.predict_proba(WORDS))


def test_probabilities_of_slow_smoothers_are_kept():
    model = cw.NBClassifier(smoothing=cw.HDP("gibbs", n_iter=20, burn_in=5)).fit(WORDS, Y)
    smoothed = model._parameters
    model.predict_proba_interval(WORDS)
    assert model._parameters is smoothed


def test_the_short_way_for_arrays_checks_what_it_must():
    model = cw.NBClassifier().fit(X.to_numpy(), Y)
    row = X.to_numpy()[:1]
    expected = model.predict_proba(row)
    for same in (row.tolist(), np.asfortranarray(row), row.astype(object), np.repeat(row, 4, axis=0)[::4]):
        np.testing.assert_array_equal(model.predict_proba(same), expected)
    with pytest.raises(ValueError, match="infinity"):
        model.predict_proba(row * np.inf)
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict_proba(row[:, :3])
    named = cw.NBClassifier().fit(X, Y)
    with pytest.warns(UserWarning, match="valid feature names"):
        named.predict_proba(row)


def test_tools_of_scikit_learn():
    model = cw.KDBClassifier(k=1, smoothing=cw.MEstimate())
    assert cross_val_score(model, WORDS, Y, cv=3).min() > 0.8
    search = GridSearchCV(model, {"k": [0, 1], "smoothing__m": [0.1, 1.0]}, cv=3).fit(WORDS, Y)
    assert set(search.best_params_) == {"k", "smoothing__m"}
    assert make_pipeline(StandardScaler(), model).fit(X, Y).score(X, Y) > 0.9
    calibrated = CalibratedClassifierCV(model, cv=3).fit(WORDS, Y)
    np.testing.assert_allclose(calibrated.predict_proba(WORDS.head(2)).sum(axis=1), 1.0)
    importance = permutation_importance(model.fit(WORDS, Y), WORDS, Y, n_repeats=2, random_state=0)
    assert importance.importances_mean.max() > 0


def test_what_a_notebook_shows():
    model = cw.KDBClassifier(k=2, smoothing=cw.MEstimate(m=0.5))
    assert repr(model) == "KDBClassifier(k=2, smoothing=MEstimate(m=0.5))"
    assert "KDBClassifier" in model._repr_html_()
    assert "KDBClassifier" in model.fit(X, Y)._repr_html_()


def test_tab_completion_shows_the_public_names_only():
    names = [name for name in dir(cw) if not name.startswith("__")]
    assert names == sorted(cw.__all__)
    assert all(hasattr(cw, name) for name in names)


def test_import_is_light():
    code = "import countwise, sys; print([m for m in ('sklearn', 'pandas', 'pyarrow', 'numpy') if m in sys.modules])"
    paths = f"import sys; sys.path[:] = {sys.path!r}; "
    run = subprocess.run([sys.executable, "-c", paths + code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_pandas_rows_and_series():
    model = cw.NBClassifier().fit(WORDS, Y)
    assert model.predict(WORDS.iloc[[5]]).shape == (1,)
    with pytest.raises(ValueError, match=r"df\.iloc\[\[0\]\]"):
        model.predict(WORDS.iloc[5])
