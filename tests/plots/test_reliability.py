"""Reliability diagrams: bins of ece, Wilson's interval."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import scipy.stats

from countwise.errors import DataError
from countwise.evaluate import ece, reliability_bins
from countwise.plots import ReliabilityDisplay
from plots.pictures import cut_off, overlapping


def predictions(n=500, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, n_classes, n), rng.dirichlet(np.ones(n_classes), n)


@pytest.mark.parametrize("n_bins", [1, 2, 15, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_bins_add_up_to_ece(n_bins, weighted):
    y, p = predictions()
    weight = np.arange(1.0, 501.0) if weighted else None
    display = ReliabilityDisplay.from_predictions(y, p, classes=[0, 1, 2], n_bins=n_bins, sample_weight=weight)
    assert display.ece[0] == pytest.approx(ece(y, p, [0, 1, 2], weight, n_bins=n_bins), abs=1e-12)
    assert display.weight.sum() == (500 if weight is None else weight.sum())


def test_edges_belong_to_the_bin_below():
    # Top-label probabilities .5, .75 and 1 with 4 bins: (.25, .5], (.5, .75], (.75, 1].
    display = ReliabilityDisplay.from_predictions(
        [0, 0, 0], [[0.5, 0.5], [0.75, 0.25], [1, 0]], classes=[0, 1], n_bins=4
    )
    assert display.weight.tolist() == [[0, 1, 1, 1]]
    assert display.stated_sum.tolist() == [[0, 0.5, 0.75, 1]]


def test_wilson_is_that_of_scipy():
    weight, happened = np.array([10.0, 3.0, 200.0, 0.0]), np.array([10.0, 0.0, 77.0, 0.0])
    low, high = ReliabilityDisplay(weight, weight * 0.5, happened).interval
    for i in range(3):
        expected = scipy.stats.binomtest(int(happened[i]), int(weight[i])).proportion_ci(method="wilson")
        assert (low[0, i], high[0, i]) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert np.isnan(low[0, 3])


def test_points_intervals_and_weights_drawn_are_the_numbers_held():
    display = ReliabilityDisplay([[0, 4, 6]] * 2, [[0, 2, 5]] * 2, [[0, 1, 6], [0, 2, 3]], names=["hdp", "nb"])
    ax = display.plot()
    np.testing.assert_allclose(ax.lines[1].get_xydata(), [[0.5, 0.25], [5 / 6, 1.0]])
    segments = np.array(ax.collections[0].get_segments())
    np.testing.assert_allclose(segments[:, 0, 1], display.interval[0][0, 1:])
    np.testing.assert_allclose(segments[:, 1, 1], display.interval[1][0, 1:])
    (below,) = ax.child_axes
    np.testing.assert_allclose(below.patches[0].get_data().values, [0.0, 0.4, 0.6])
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["hdp (ECE 0.200)", "nb (ECE 0.200)"]
    assert "Wilson" in ax.get_legend().get_title().get_text()


def test_several_models_and_parts_that_add_up():
    y, p = predictions()
    display = ReliabilityDisplay.from_predictions(y, {"a": p, "b": p[::-1]}, n_bins=5)
    assert display.names == ("a", "b")
    parts = reliability_bins(y[:200], p[:200], [0, 1, 2], n_bins=5) + reliability_bins(y[200:], p[200:], n_bins=5)
    whole = ReliabilityDisplay.from_bins({"a": parts})
    np.testing.assert_allclose(whole.happened[0], display.happened[0])
    assert ReliabilityDisplay.from_bins(parts).names == ("model",)


@pytest.mark.parametrize("n_models", [1, 2, 6])
def test_texts_can_be_read(n_models):
    y, p = predictions()
    figure = ReliabilityDisplay.from_predictions(
        y, {f"skdb5-hdp-tuned-{i}": p for i in range(n_models)}, title="t"
    ).figure()
    assert overlapping(figure) == []
    assert cut_off(figure) == []


@pytest.mark.parametrize(
    ("weight", "stated", "happened", "message"),
    [
        ([1.0, 2.0], [0.5, 1.0], [1.0], r"happened_sum: shape \(1, 1\), but 1 names and 2 bins"),
        ([1.0, 2.0], [0.5, 3.0], [1.0, 1.0], "stated_sum: larger than weight in a bin; sums are needed"),
        ([1.0, -2.0], [0.5, 0.0], [1.0, 0.0], "weight: a sum is missing or negative; an empty bin has 0"),
        ([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], "weight: 'model' has no weight at all"),
        ([[1.0]] * 2, [[1.0]] * 2, [[1.0]] * 2, r"weight: shape \(2, 1\), but 1 names"),
    ],
)
def test_errors(weight, stated, happened, message):
    with pytest.raises(DataError, match=message):
        ReliabilityDisplay(weight, stated, happened)


def test_different_bins_are_refused():
    y, p = predictions(50)
    bins = {"a": reliability_bins(y, p, n_bins=5), "b": reliability_bins(y, p, n_bins=6)}
    with pytest.raises(DataError, match="different numbers of bins; use one n_bins"):
        ReliabilityDisplay.from_bins(bins)
