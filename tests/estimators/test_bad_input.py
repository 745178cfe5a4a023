"""Every wrong input has an error that names the culprit, and none leaves a half-fitted estimator."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import countwise as cw
from countwise.errors import ColumnTypeError, DataError, MemoryLimitError

N = 120
RNG = np.random.default_rng(0)
WORD = RNG.choice(["u", "v", "w"], N)
SIZE = RNG.normal(size=N)
Y = np.where((WORD == "u") ^ (SIZE > 0.3) ^ (RNG.random(N) < 0.1), "yes", "no")
X = pd.DataFrame(
    {"word": WORD, "size": SIZE, "digit": pd.Categorical(RNG.integers(0, 4, N)), "flag": RNG.random(N) < 0.5}
)
SOURCE = cw.StreamSource([X.assign(label=Y)], target="label")
CLASSIFIERS = [cw.NBClassifier(), cw.TANClassifier(), cw.KDBClassifier(k=2), cw.SKDBClassifier(k=2), cw.BNClassifier()]


def refuses(call, message, error=ValueError):
    with pytest.raises(error, match=message):
        call()


BAD_DATA = {
    "no rows": ((X.head(0), []), "0 rows, 4 columns"),
    "no columns": ((X[[]], Y), "120 rows, 0 columns"),
    "no rows in an array": ((np.zeros((0, 3)), []), "0 sample"),
    "one class": ((X, ["a"] * N), "only one class .'a'"),
    "one class is left by weights": ((X, Y, (Y == "yes").astype(float)), "only one class .'yes'"),
    "target with None": ((X, pd.Series(Y, dtype=object).where(SIZE < 1, None)), "y contains NaN: .* missing in"),
    "target with NaN": ((X, np.where(SIZE > 1, np.nan, 1.0)), "y contains NaN"),
    "target with NA": ((X, pd.Series(Y, dtype="string").where(SIZE < 1)), "y contains NaN"),
    "nullable target with NA": ((X, pd.Series(np.arange(N) % 2, dtype="Int64").where(SIZE < 1)), "y contains NaN"),
    "arrow target with null": ((X, pa.array([None, "a"] * (N // 2))), "y contains NaN"),
    "polars target with null": ((X, pl.Series([None, "a"] * (N // 2))), "y contains NaN"),
    "continuous target": ((X, SIZE), "Unknown label type: continuous"),
    "mixed target": ((X, np.array([1, "a"] * (N // 2), dtype=object)), "y mixes int and str"),
    "wide target": ((X, np.zeros((N, 2))), "y should be a 1d array"),
    "short target": ((X, Y[:5]), "X has 120 rows, y has 5"),
    "no target": ((X,), "requires y"),
    "target by name": ((X, "word"), r"y is the text 'word'.*X\['word'\]"),
    "tiny weight": ((X, Y, np.where(SIZE > 0, 1e-170, 1.0)), "weights must be 0 or at least 1e-100"),
    "negative weight": ((X, Y, np.where(SIZE > 0, -1.0, 1.0)), "weights must not be negative"),
    "weights of zero": ((X, Y, np.zeros(N)), "(?i)weights must contain at least one non-zero|weights are zero"),
    "weights with NaN": ((X, Y, np.where(SIZE > 0, np.nan, 1.0)), "sample_weight contains NaN"),
    "infinite weights": ((X, Y, np.where(SIZE > 0, np.inf, 1.0)), "sample_weight contains infinity"),
    "short weights": ((X, Y, [1.0, 2.0]), "sample_weight.shape"),
    "weights of text": ((X, Y, ["a"] * N), "sample_weight must hold one number"),
    "infinite value": ((X.assign(size=np.inf), Y), "'size' contains infinity"),
    "minus infinity in float32": ((X.assign(size=np.float32("-inf")), Y), "'size' contains infinity"),
    "infinity in an array": ((np.full((N, 2), np.inf), Y), "'x0' contains infinity"),
    "infinity in arrow": ((pa.table({"a": [np.inf] * N}), Y), "'a' contains infinity"),
    "twice the same name": ((pd.concat([X, X[["size"]]], axis=1), Y), "duplicate column name.*'size'"),
    "a path": (("train.csv", Y), r"path 'train.csv'.*scan\('train.csv'"),
    "a dict": (({"a": [1, 2]}, [0, 1]), "X is a dict"),
    "a column": ((X["word"], Y), r"X is a Series .*df\[\['name'\]\]"),
    "a vector": ((SIZE, Y), "Expected 2D array"),
    "nothing": ((None, Y), "Expected 2D array"),
    "source and target": ((SOURCE, Y), r"call fit\(source\) alone"),
    "source and weights": ((SOURCE, None, np.ones(N)), r"call fit\(source\) alone"),
    "source without a target": ((cw.StreamSource([X]),), "source has no target; pass scan"),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_training_data(case):
    args, message = BAD_DATA[case]
    model = cw.KDBClassifier(k=1)
    refuses(lambda: model.fit(*args), message)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert vars(model) == vars(cw.KDBClassifier(k=1))


BAD_PARAMETERS = [
    (cw.KDBClassifier(k=-1), "k must be a whole number >= 0, got -1"),
    (cw.KDBClassifier(k=1.5), "k must be a whole number >= 0, got 1.5"),
    (cw.KDBClassifier(k=2.0), "k must be a whole number >= 0, got 2.0"),
    (cw.KDBClassifier(k="2"), "k must be a whole number >= 0, got '2'"),
    (cw.KDBClassifier(k=None), "k must be a whole number >= 0, got None"),
    (cw.KDBClassifier(k=True), "k must be a whole number >= 0, got True"),
    (cw.SKDBClassifier(k=-1), "k must be a whole number >= 0"),
    (cw.SKDBClassifier(loss="hinge"), "loss='hinge' is not known; choose one of rmse"),
    (cw.KDBClassifier(order=["nope"]), "order names 'nope'"),
    (cw.KDBClassifier(order=["size", "size"]), "order names a column twice"),
    (cw.KDBClassifier(order="size"), "order must be a list"),
    (cw.NBClassifier(smoothing="nope"), "smoothing='nope' is not known; choose one of mle"),
    (cw.NBClassifier(smoothing=3), "smoothing must be a name or a Smoother, got 3"),
    (cw.NBClassifier(smoothing=cw.MEstimate), "smoothing must be a name or a Smoother"),
    (cw.NBClassifier(smoothing=cw.MEstimate(-1)), "m must be a number >= 0"),
    (cw.NBClassifier(smoothing=cw.MEstimate(None)), "m must be a number >= 0"),
    (cw.NBClassifier(smoothing=cw.MBranch(0)), "m must be a number > 0"),
    (cw.NBClassifier(discretiser="nope"), "unknown discretiser 'nope'; known names: mdlp"),
    (cw.NBClassifier(discretiser=None), "unknown discretiser None"),
    (cw.NBClassifier(discretiser=cw.EqualWidth(0)), "n_bins must be an integer of at least 1"),
    (cw.NBClassifier(categorical_features=["nope"]), "categorical_features names 'nope'"),
    (cw.NBClassifier(n_jobs=0), "n_jobs must be None or an integer other than 0"),
    (cw.NBClassifier(n_jobs="all"), "n_jobs must be None or an integer"),
    (cw.NBClassifier(random_state="x"), "random_state must be None or an integer >= 0, got 'x'"),
    (cw.NBClassifier(random_state=-1), "random_state must be None or an integer >= 0"),
    (cw.BNClassifier(structure={"nope": []}), "structure names 'nope'"),
    (cw.BNClassifier(structure={"size": "word"}), r"structure\['size'\] must be a list"),
    (cw.BNClassifier(structure=["size"]), "structure must map attributes"),
    (cw.BNClassifier(structure={"size": ["word"], "word": ["size"]}), "cycle"),
    (cw.KDFClassifier(k=0), "k must be a whole number >= 1"),
    (cw.AnDEClassifier(n=3), "n must be 0, 1 or 2"),
    (cw.AnDEClassifier(n=True), "n must be 0, 1 or 2"),
    (cw.AnDEClassifier(min_support=-1), "min_support must be a number >= 0"),
    (cw.AnDEClassifier(min_support=np.nan), "min_support must be a number >= 0"),
    *((cw.KDBClassifier(max_memory=m), "max_memory=") for m in ("x", "", -5, 0, "1.2.3GB", "1e400", True, [1], np.nan)),
]


@pytest.mark.parametrize(("model", "message"), BAD_PARAMETERS, ids=lambda value: repr(value)[:60])
def test_bad_parameters(model, message):
    refuses(lambda: model.fit(X, Y), message, DataError)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def test_bad_parameters_are_told_before_the_data_are_read():
    read = []

    def batches():
        read.append(1)
        return [X.assign(label=Y)]

    source = cw.StreamSource(batches, target="label")
    read.clear()
    for model in (cw.KDBClassifier(k=-1), cw.SKDBClassifier(loss="hinge"), cw.NBClassifier(smoothing="nope")):
        refuses(lambda model=model: model.fit(source), "k must|loss=|smoothing=")
    assert not read


def test_a_k_beyond_the_attributes_is_no_error():
    models = [cw.KDBClassifier(k=k).fit(X, Y) for k in (3, 100, np.int64(50))]
    for model in models[1:]:
        np.testing.assert_array_equal(model.predict_proba(X), models[0].predict_proba(X))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("value", [1.0, np.nan, None, "same"])
def test_constant_and_missing_columns_are_no_error(model, value):
    table = X.assign(dull=value)
    dull = model.fit(table, Y).predict_proba(table)
    np.testing.assert_allclose(dull.sum(axis=1), 1.0)
    everything = X[["size", "word"]].assign(size=np.nan, word=None)
    assert np.isfinite(model.fit(everything, Y).predict_proba(X[["size", "word"]])).all()


@pytest.mark.parametrize("smoothing", ["mle", "laplace", "m", "m-branch"])
def test_what_training_never_met_backs_off(smoothing):
    model = cw.KDBClassifier(k=2, smoothing=smoothing).fit(X, Y)
    strange = X.head(5).assign(word=["zzz", None, "u", "v", "w"], size=[np.nan, 1e300, -1e300, 0.0, np.nan], flag=None)
    strange["digit"] = [99, None, 0, 1, 2]
    proba = model.predict_proba(strange)
    assert (proba > 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    unseen, missing = (model.predict_proba(X.head(3).assign(word=w)) for w in ("zzz", None))
    np.testing.assert_array_equal(unseen, missing)  # training met neither
    assert np.isfinite(model.predict_log_proba(strange)).all()


@pytest.mark.parametrize(
    ("new", "message", "error"),
    [
        (X[X.columns[::-1]], "same order", ValueError),
        (X.drop(columns="size"), "(?s)missing.*size", ValueError),
        (X.rename(columns={"size": "weight"}), "(?s)weight.*missing.*size", ValueError),
        (X.assign(more=1), "(?s)unseen.*more", ValueError),
        (X.assign(size="tall"), "'size' should hold numbers and holds text .*'tall'", ColumnTypeError),
        (X.assign(size=np.inf), "'size' contains infinity", DataError),
        (X.assign(digit="three"), "'digit' held int64 categories", ColumnTypeError),
        (X.assign(flag="maybe"), "'flag' held bool categories", ColumnTypeError),
        (X.assign(word=[["a"]] * N), "'word' has type list", ColumnTypeError),
        (X.head(0), "0 rows", DataError),
        (X.iloc[0], r"X is a Series .*df.iloc\[\[0\]\]", DataError),
        (cw.StreamSource([X[["word"]]]), r"lacks column\(s\) \['size', 'digit', 'flag'\]", DataError),
    ],
    ids=range(12),
)
def test_bad_rows_to_predict(new, message, error):
    model = cw.KDBClassifier(k=1).fit(X, Y)
    for method in (model.predict, model.predict_proba, model.predict_log_proba, model.explain):
        refuses(lambda method=method: method(new), message, error)


def test_other_types_of_the_same_values_are_no_error():
    model = cw.KDBClassifier(k=1).fit(X, Y)
    digit = X["digit"].astype(int)
    expected = model.predict_proba(X)
    for same in (
        X.assign(digit=digit),
        X.assign(digit=digit.astype(float)),
        X.assign(digit=digit.astype(str)),
        X.assign(flag=X["flag"].astype(int), word=X["word"].astype("category")),
        pa.RecordBatch.from_pandas(X),
        pl.from_pandas(X),
    ):
        np.testing.assert_array_equal(model.predict_proba(same), expected)


def test_arrays_of_another_width():
    model = cw.NBClassifier().fit(np.c_[SIZE, SIZE], Y)
    for width in (1, 3):
        refuses(lambda width=width: model.predict_proba(np.zeros((2, width))), "2 features")
    refuses(lambda: model.predict_proba(np.zeros((0, 2))), "0 sample")


def test_nullable_targets_keep_their_type():
    for dtype, kind in (("Int64", "i"), ("boolean", "b")):
        model = cw.NBClassifier().fit(X, pd.Series(np.arange(N) % 2, dtype=dtype))
        assert model.classes_.dtype.kind == kind


FAILURES = {
    "data at the door": (lambda m: m.fit(X.drop(columns="size"), Y[:3])),
    "data in the schema pass": (lambda m: m.fit(X[["size"]].assign(size=np.inf), Y)),
    "memory": (lambda m: m.set_params(max_memory=100).fit(X[["word", "size"]], Y)),
    "parameter": (lambda m: m.set_params(k=-1).fit(X[["word"]], Y)),
    "source": (lambda m: m.fit(cw.StreamSource([X[["word"]].assign(label="a")], target="label"))),
    "array": (lambda m: m.fit(np.full((N, 7), np.inf), Y)),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("cls", [cw.KDBClassifier, cw.SKDBClassifier])
def test_a_failed_refit_leaves_the_model_as_it_was(cls, failure):
    model = cls(k=2).fit(X, Y)
    before, proba, params = dict(vars(model)), model.predict_proba(X), model.get_params()
    with pytest.raises((ValueError, MemoryLimitError)):
        failure(model)
    model.set_params(**params)
    assert {k: v for k, v in vars(model).items() if v is not before[k]} == {}
    assert vars(model).keys() == before.keys()
    np.testing.assert_array_equal(model.predict_proba(X), proba)


@pytest.mark.parametrize(
    ("size", "message"), [(100, "column 'word'|column 'size'"), (1500, "the counts take more than")]
)
def test_too_little_memory_is_a_clear_refusal(size, message):
    model = cw.KDBClassifier(k=2, max_memory=size)
    with pytest.raises(MemoryLimitError, match=f"({message}).*max_memory"), np.errstate(all="ignore"):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def test_partial_fit_refuses_and_stays():
    model = cw.NBClassifier().fit(X, Y)
    counts = model.class_counts_.copy()
    refuses(lambda: model.partial_fit(X, ["maybe"] * N), r"\['maybe'\] that are not among the classes \['no', 'yes'\]")
    refuses(lambda: model.partial_fit(SOURCE), "tables in memory")
    refuses(lambda: model.partial_fit(X.drop(columns="size"), Y), "(?s)missing.*size")
    np.testing.assert_array_equal(model.class_counts_, counts)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "explain", "log_likelihood"])
def test_unfitted(method):
    with pytest.raises(NotFittedError):
        getattr(cw.NBClassifier(), method)(X)


def test_unfitted_models_are_not_saved(tmp_path):
    for model in (cw.NBClassifier(), cw.PoolClassifier(), cw.ProbabilityTreeClassifier()):
        with pytest.raises(NotFittedError):
            model.save(tmp_path / "model.cw")
    assert not list(tmp_path.iterdir())
