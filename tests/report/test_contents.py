"""What is on a page: the right numbers, and a sentence for what results do not allow."""

import dataclasses

import numpy as np
import pytest

from countwise.errors import DataError
from countwise.plots import (
    CriticalDifferenceDisplay,
    DifferenceBarsDisplay,
    LearningCurveDisplay,
    MeanDotsDisplay,
    ReliabilityDisplay,
    ScatterDisplay,
    TimeDisplay,
    WinLossDisplay,
)
from countwise.report import Facts, Paragraph, Picture, Sheet, page_of

THREE = {"nb": [0.30, 0.20, 0.4], "tan": [0.20, 0.10, 0.3], "rf": [0.25, 0.15, 0.2]}


def section(page, title):
    return next(s for s in page.sections if s.title == title)


def said(page, title):
    return " ".join(item.text for item in section(page, title).items if isinstance(item, Paragraph))


def sheets(page, title=None):
    items = page.items if title is None else section(page, title).items
    return {item.title: item for item in items if isinstance(item, Sheet)}


def pictures(page, kind):
    return {item.title: item for item in page.items if isinstance(item, Picture) and isinstance(item.display, kind)}


def lines_of(sheet):
    return [
        dict(zip([c.heading for c in sheet.columns], texts, strict=True))
        for texts in zip(*(c.texts for c in sheet.columns), strict=True)
    ]


def marked(sheet):
    return {(column.heading, sheet.columns[0].texts[i]) for column in sheet.columns for i in column.best}


def test_sections_come_in_their_order(folds):
    page = page_of(folds(THREE))
    assert page.title == "3 models on 3 data sets"
    titles = "What was run, Means, Experiments, Ranks, Pairs of models, Calibration, Cost, By data set, Failures"
    assert [s.title for s in page.sections if s.level == 2] == titles.split(", ")


def test_means_are_sorted_and_the_best_of_each_column_is_marked_in_its_direction(folds):
    table = sheets(page_of(folds(THREE)))["Means over data sets"]
    lines = lines_of(table)
    assert [line["Model"] for line in lines] == ["tan", "rf", "nb"]
    assert (lines[0]["RMSE"], lines[2]["RMSE"]) == ("0.2000", "0.3000")
    assert (lines[0]["Peak memory, MB"], lines[0]["Size of the model, MB"]) == ("2.00", "0.00500")
    best = marked(table)
    both = {("RMSE", "tan"), ("RMSE", "rf")}  # they look the same: 0.2000
    assert {pair for pair in best if pair[0] == "RMSE"} == both
    assert {pair for pair in best if pair[0] == "ROC AUC"} == {("ROC AUC", "tan"), ("ROC AUC", "rf")}
    assert {pair for pair in best if pair[0] == "0-1 loss"} == {("0-1 loss", "rf")}


def test_the_best_of_each_line_is_marked_in_the_direction_of_the_measure(folds):
    by_set = sheets(page_of(folds(THREE), measures=["rmse", "roc_auc"]), "By data set")
    low, high = by_set["RMSE: every data set"], by_set["ROC AUC: every data set"]
    assert marked(low) == marked(high) == {("tan", "set-0"), ("tan", "set-1"), ("rf", "set-2")}
    first = lines_of(low)[0]
    assert (first["Rows"], first["Attributes"], first["Classes"], first["nb"]) == ("100", "4", "2", "0.3000")
    assert low.folded


def test_ranks_are_those_of_friedman_with_the_diagram(folds):
    page = page_of(folds(THREE), measures=["rmse"])
    (picture,) = pictures(page, CriticalDifferenceDisplay).values()
    assert dict(zip(picture.display.names, picture.display.average_ranks, strict=True)) == pytest.approx(
        {"nb": 3.0, "tan": 4 / 3, "rf": 5 / 3}
    )
    table = sheets(page, "Ranks")["Average ranks by RMSE"]
    assert [tuple(line.values()) for line in lines_of(table)] == [("tan", "1.33"), ("rf", "1.67"), ("nb", "3.00")]
    assert "Friedman" in table.note


def test_of_many_models_the_best_25_are_ranked_and_the_others_named(folds):
    many = {f"m{i:02}": [0.1 + i / 100, 0.2 + i / 100] for i in range(27)}
    page = page_of(folds(many), measures=["rmse"])
    (picture,) = pictures(page, CriticalDifferenceDisplay).values()
    assert len(picture.display.names) == 25
    assert "without m25, m26" in said(page, "Ranks")
    assert all(table.folded for table in sheets(page, "Pairs of models").values())


def test_all_pairs_are_compared(folds):
    table = sheets(page_of(folds(THREE)))["Wins-draws-losses by RMSE"]
    assert lines_of(table)[1] == {"Model": "tan", "nb": "3-0-0", "tan": "", "rf": "2-0-1"}
    assert not table.folded


def test_two_models_are_not_ranked_and_one_is_not_compared(folds):
    two = page_of(folds({"nb": [0.3, 0.2], "tan": [0.2, 0.1]}))
    assert "at least 3 models and 2 data sets; there are 2 models and 2 data sets" in said(two, "Ranks")
    one = page_of(folds({"nb": [0.3]}))
    assert "one model only" in said(one, "Pairs of models")
    assert one.title == "1 model on 1 data set"
    assert marked(sheets(one)["Means over data sets"]) == set()


def test_calibration_and_time_show_the_best_six_or_the_chosen_ones(folds):
    many = folds({f"m{i}": [0.9 - i / 10] for i in range(8)})
    best = page_of(many)
    (drawn,) = pictures(best, ReliabilityDisplay).values()
    assert drawn.display.names == ("m7", "m6", "m5", "m4", "m3", "m2")
    assert next(iter(pictures(best, TimeDisplay).values())).display.names == drawn.display.names
    assert "The 6 of 8 models with the best mean RMSE." in said(best, "Calibration")
    chosen = page_of(many, models=["m0", "m1"])
    (drawn,) = pictures(chosen, ReliabilityDisplay).values()
    assert drawn.display.names == ("m0", "m1")


def test_of_a_measure_that_is_to_be_high_the_highest_are_the_best(folds):
    page = page_of(folds({f"m{i}": [0.9 - i / 10] for i in range(8)}), measures=["roc_auc"])
    assert next(iter(pictures(page, ReliabilityDisplay).values())).display.names[0] == "m7"
    assert lines_of(sheets(page)["Means over data sets"])[0]["Model"] == "m7"


def test_failures_are_counted_and_quoted(broken):
    page = page_of(broken)
    assert [tuple(line.values()) for line in lines_of(sheets(page)["Failures"])] == [
        ("a", "nb", "1", "2", "ValueError: no"),
        ("b", "rf", "2", "2", "TimeLimit: <1 s"),
    ]
    assert "3 of 8 cells failed" in said(page, "Failures")
    assert "Means over data sets" not in sheets(page)
    for title in ("Means", "Pairs of models"):
        assert "there is no data set on which every model has a value" in said(page, title)
    values = lines_of(sheets(page)["RMSE: every data set"])
    assert [(line["nb"], line["rf"]) for line in values] == [("-", "0.2000"), ("0.2000", "-")]


def test_results_without_failures_say_so(folds):
    assert "None of 9 cells failed" in said(page_of(folds(THREE)), "Failures")


def test_what_is_not_run_yet_is_told(folds):
    settings = {(d, m): {"n_splits": 2} for d in ("set-0", "set-1", "set-2", "later") for m in THREE}
    results = folds(THREE, settings=settings)
    results = dataclasses.replace(results, rows=[*results.rows, results.rows[0] | {"fold": 1}])
    text = said(page_of(results), "What was run")
    assert "Not run yet: 3 of 12 pairs of a data set and a model, on 1 data set (later)" in text
    assert "On 1 data set models have different numbers of cells" in text


def test_facts_of_run_and_machine(folds):
    settings = {("set-0", "nb"): {"n_splits": 2, "random_state": 7, "prepare": "none", "params": "NB(k=<1>)"}}
    runs = [{"cpu": "Z80", "memory_bytes": 64_000_000, "versions": {"numpy": "2.1"}}, {"cpu": "6502"}]
    page = page_of(folds(THREE, settings=settings, runs=runs))
    run, machine = (item for item in page.items if isinstance(item, Facts))
    assert dict(run.pairs) == {
        "Data sets": "3, of 100 to 300 rows",
        "Models": "3",
        "Cells": "9, none failed",
        "Protocol": "1 repeat of stratified 2-fold cross-validation",
        "Preparation": "none",
        "Seed": "7",
        "Measures": "RMSE, 0-1 loss, ROC AUC",
    }
    assert dict(machine.pairs) == {"CPU": "Z80; 6502", "Memory": "64 MB", "Versions": "numpy 2.1"}
    assert lines_of(sheets(page)["Models and their parameters"])[0] == {"Model": "nb", "Parameters": "NB(k=<1>)"}


def test_a_papers_table_stands_beside_ours_and_its_scatter_plot(folds):
    results = folds({"tan-hdp": [0.1, 0.3, 0.3], "tan-m": [0.2, 0.2, 0.4]}, ["adult", "led", "mine"])
    title = "HDP against m-estimates in eight networks (paper 000, Table 4)"
    whole = page_of(results)
    lines = {
        line["Comparison"]: line for line in lines_of(sheets(whole, title)["paper000-table4: wins, draws and losses"])
    }
    assert (lines["TAN"]["RMSE"], lines["TAN"]["RMSE, paper"]) == ("2-0-1", "52-1-15")
    assert (lines["NB"]["RMSE"], lines["NB"]["RMSE, paper"]) == ("-", "40-0-28")
    assert "Over all 3 data sets of the results" in said(whole, title)
    part = page_of(results, tables={"petitjean68": ["adult", "led", "another"]})
    assert "Over 2 of the experiment's 3 data sets" in said(part, title)
    drawn = pictures(part, ScatterDisplay)["paper000-table4: RMSE of tan-hdp against tan-m"].display
    assert (drawn.x.tolist(), drawn.y.tolist(), drawn.labels) == ([0.2, 0.2], [0.1, 0.3], ("adult", "led"))
    assert "They are for training sets of given sizes: paper000-fig7" in said(part, "Experiments that are not shown")


def test_a_line_of_wins_and_losses_is_drawn_where_its_models_are(folds):
    results = folds({"kdb5-hdp": [0.1, 0.3], "nb-hdp": [0.2, 0.2], "kdb2-hdp": [0.2, 0.4]})
    (picture,) = pictures(page_of(results, experiment="paper000-fig6"), WinLossDisplay).values()
    assert picture.display.names == ("HDP",)
    assert picture.display.points[:3] == ("nb", "kdb1", "kdb2")
    np.testing.assert_array_equal(picture.display.wins[0], [1, np.nan, 2, np.nan, np.nan])
    np.testing.assert_array_equal(picture.display.losses[0], [1, np.nan, 0, np.nan, np.nan])


def test_means_of_an_experiment_have_its_names_and_no_picture_of_times(folds):
    results = folds({"eskdb-m": [0.1, 0.3], "eskdb-m(n_estimators=1)": [0.2, 0.4], "rf": [0.2, 0.2]})
    drawn = pictures(page_of(results, experiment="paper004-fig13"), MeanDotsDisplay)
    assert drawn["paper004-fig13: mean RMSE"].display.names == ("10 members", "1 member")
    pool = folds({"pool": [0.1, 0.3], "tuned": [0.2, 0.2], "rf": [0.2, 0.4], "nb": [0.5, 0.5]})
    names = [name for name in pictures(page_of(pool, experiment="pool"), MeanDotsDisplay) if name.startswith("pool")]
    assert names == ["pool: mean RMSE", "pool: mean 0-1 loss"]


def test_an_experiment_that_is_named_is_alone_or_its_absence_is_explained(folds):
    results = folds({"tan-hdp": [0.1], "tan-m": [0.2]})
    page = page_of(results, experiment="paper000-table4")
    assert [s.title for s in page.sections if s.level == 3] == [
        "HDP against m-estimates in eight networks (paper 000, Table 4)"
    ]
    absent = page_of(results, experiment="paper004-table6")
    assert "Their models are not in these results: paper004-table6." in said(absent, "Experiments that are not shown")


def test_an_experiment_of_which_every_comparison_failed_is_not_shown(broken):
    renamed = [row | {"model": {"nb": "tan-hdp", "rf": "tan-m"}[row["model"]]} for row in broken.rows]
    page = page_of(dataclasses.replace(broken, rows=renamed))
    assert "missing, or failed: " in said(page, "Experiments that are not shown")
    assert not pictures(page, ScatterDisplay)


def test_training_sizes_have_curves_differences_and_one_size_for_the_rest(sized):
    page = page_of(sized())
    assert "At 40 training rows, the largest size that all 2 data sets have." in said(page, "Pairs of models")
    table = sheets(page, "Learning curves")["RMSE: means by training rows"]
    assert [column.heading for column in table.columns] == ["Model", "20 (2)", "40 (2)"]
    assert lines_of(table)[1] == {"Model": "tan-dirichlet@all", "20 (2)": "0.3800", "40 (2)": "0.3600"}
    curves = pictures(page, LearningCurveDisplay)
    assert list(curves["RMSE: learning curve on b"].display.sizes) == [20, 40, 80]
    np.testing.assert_allclose(curves["RMSE: mean learning curve"].display.mean, [[0.48, 0.46], [0.38, 0.36]])
    bars = pictures(page, DifferenceBarsDisplay)["paper003-fig7: 0-1 loss of tan-dirichlet@all against tan-bdeu1@all"]
    assert bars.display.panels == ("20 rows", "40 rows")
    np.testing.assert_allclose(bars.display.difference, 0.1)
    assert "1 size left out" in bars.caption
    assert "They are for cross-validation: networks" in said(page, "Experiments that are not shown")
    run = next(item for item in page.items if isinstance(item, Facts))
    assert dict(run.pairs)["Protocol"] == "2 draws of 20, 40, 80 training rows"


def test_differences_of_cross_validation_are_one_panel_by_size(folds):
    page = page_of(folds({"c45-hgs": [0.1, 0.3, 0.2], "c45-mbranch": [0.2, 0.2, 0.2]}), experiment="paper004-fig24")
    (bars,) = pictures(page, DifferenceBarsDisplay).values()
    assert bars.title == "paper004-fig24: RMSE of c45-hgs against c45-mbranch"
    assert bars.display.panels is None
    np.testing.assert_allclose(bars.display.difference, [[0.1, -0.1, 0.0]])
    assert bars.caption == ""


def test_times_of_an_experiment_have_its_names(folds):
    models = ("c45-hgs", "c45-gibbs(smoothing__tying=single)")
    page = page_of(folds({name: [0.1, 0.3] for name in models}), experiment="paper004-fig25")
    drawn = pictures(page, TimeDisplay)["paper004-fig25: time to fit against training rows"].display
    assert drawn.names == ("HGS", "HDP, 1,000 sweeps")
    np.testing.assert_array_equal(drawn.seconds, 0.5)


def test_the_curves_of_a_paper_are_drawn_once(sized):
    page = page_of(sized(("tan-m", "tan-hdp"), ("adult", "letter")))
    assert "Its pictures are those of the section on learning curves." in said(
        page, "Learning curves of TAN and SkDB (paper 000, Fig. 7)"
    )
    assert not [title for title in pictures(page, LearningCurveDisplay) if title.startswith("paper000")]
    other = page_of(sized(("tan-m", "tan-hdp", "rf"), ("adult", "letter")))
    (first, _) = (p for t, p in pictures(other, LearningCurveDisplay).items() if t.startswith("paper000-fig7"))
    assert set(first.display.names) == {"tan-m", "tan-hdp"}


def test_a_size_at_which_all_failed_is_left_out(sized):
    results = sized()
    rows = [
        row | {"error": "Crash", "rmse": None, "zero_one_loss": None} if row["train_size"] == 20 else row
        for row in results.rows
    ]
    page = page_of(dataclasses.replace(results, rows=rows))
    lines = lines_of(sheets(page)["paper003-fig7: wins, draws and losses"])
    assert {line["Training rows"] for line in lines} == {"40", "80"}


def test_wrong_names_are_refused(folds):
    results = folds(THREE)
    with pytest.raises(DataError, match="model 'svm' is not in these results"):
        page_of(results, models=["svm"])
    with pytest.raises(DataError, match="measure 'speed' is not in these results; there are rmse"):
        page_of(results, measures=["speed"])
    with pytest.raises(DataError, match="measures: name at least one"):
        page_of(results, measures=[])
    with pytest.raises(DataError, match="experiment 'paper9' is not known"):
        page_of(results, experiment="paper9")
    with pytest.raises(DataError, match="there is no cell"):
        page_of(dataclasses.replace(results, rows=[]))
