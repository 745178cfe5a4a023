"""Summaries worked by hand."""

import builtins
import math

import pytest

from countwise.evaluate import Results


def row(dataset, model, fold, n_test, rmse, log_loss, error=None):
    return {
        "dataset": dataset,
        "model": model,
        "repeat": 0,
        "fold": fold,
        "n_train": 10,
        "n_test": n_test,
        "fit_seconds": None if error else 1.0 + fold,
        "predict_seconds": None if error else 0.5,
        "rmse": rmse,
        "log_loss": log_loss,
        "error": error,
    }


ROWS = [
    row("d", "nb", 0, 30, 0.1, 0.2),
    row("d", "tan", 0, 30, 0.3, 0.3),
    row("d", "nb", 1, 10, 0.5, 0.6),
    row("d", "tan", 1, 10, 0.3, 0.3),
    row("e", "nb", 0, 5, 0.2, 0.1),
    row("e", "tan", 0, 5, 0.4, 0.5),
    row("f", "nb", 0, 5, 0.9, 0.9),
    row("f", "tan", 0, 5, None, None, error="ValueError: no"),
]
RESULTS = Results(ROWS, ("rmse", "log_loss"))


def line(dataset, model):
    return next(s for s in RESULTS.summary() if (s["dataset"], s["model"]) == (dataset, model))


def test_squares_are_pooled_before_the_root():
    assert line("d", "nb")["rmse"] == pytest.approx(math.sqrt((30 * 0.01 + 10 * 0.25) / 40))
    assert line("d", "nb")["log_loss"] == pytest.approx((30 * 0.2 + 10 * 0.6) / 40)
    assert line("d", "nb")["fit_seconds"] == pytest.approx(1.5)


def test_means_over_data_sets_leave_out_those_where_a_model_failed():
    mean = line("(mean)", "nb")
    assert mean["n_datasets"] == 2
    assert mean["rmse"] == pytest.approx((line("d", "nb")["rmse"] + 0.2) / 2)
    assert (line("(mean)", "tan")["n_failed"], mean["n_failed"]) == (1, 0)


def test_a_model_that_failed_everywhere_has_no_scores():
    assert line("f", "tan")["rmse"] is None
    assert line("f", "tan")["n_failed"] == 1


def test_text_shows_the_scores_and_the_failure():
    text = str(RESULTS)
    assert f"{line('d', 'nb')['rmse']:.4f}" in text
    assert "1 of 8 cells failed; the first: tan on f: ValueError: no" in text


def test_one_data_set_needs_no_mean():
    assert len(Results(ROWS[:4], ("rmse", "log_loss")).summary()) == 2


def test_arrow_and_pandas_keep_every_row_and_type():
    table = RESULTS.to_arrow()
    assert table.column("rmse").to_pylist() == [r["rmse"] for r in ROWS]
    assert str(table.schema.field("fit_seconds").type) == "double"
    assert str(Results(ROWS[:4], ("rmse", "log_loss")).to_arrow().schema.field("error").type) == "string"
    assert RESULTS.to_pandas().shape == (8, 11)


def test_without_pandas_the_message_names_the_way_out(monkeypatch):
    real = builtins.__import__

    def without_pandas(name, *args, **kwargs):
        if name == "pandas":
            raise ModuleNotFoundError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ModuleNotFoundError, match="pip install pandas"):
        RESULTS.to_pandas()
