"""Results as all sections look at them: the chosen models and measures, and one training size where one is needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from countwise.errors import DataError
from countwise.evaluate.measures import measure_of
from countwise.evaluate.results import COSTS, MEAN, Results
from countwise.evaluate.store import Row

MAIN_MEASURES: Final = ("rmse", "zero_one_loss", "log_loss")
N_SHOWN: Final = 6  # models in pictures that more would make unreadable


@dataclass(frozen=True, eq=False)
class View:
    """The results of the chosen models.

    ``at`` are those at ``size`` training rows; the results themselves where the protocol sets no sizes.
    """

    results: Results
    at: Results
    size: int | None
    measures: tuple[str, ...]
    are_chosen: bool  # the models, by the user

    @cached_property
    def lines(self) -> list[Row]:
        """The summary of all data sets, models and sizes, without means."""
        return [line for line in self.results.summary() if line["dataset"] != MEAN]

    @cached_property
    def shown(self) -> list[str]:
        """The few models of crowded pictures: the first that were chosen, or the best by the first measure."""
        models = self.results.models
        if self.are_chosen or len(models) <= N_SHOWN:
            return models[:N_SHOWN]
        table = self.at.table(self.measures[0])
        if not table.datasets:
            return models[:N_SHOWN]
        mean = table.values.mean(axis=0)
        best = np.argsort(-mean if measure_of(self.measures[0]).higher_is_better else mean, kind="stable")
        return [table.models[i] for i in best[:N_SHOWN]]

    def about_shown(self) -> str:
        """A sentence on the models that a crowded picture shows; empty if it shows all."""
        n = len(self.results.models)
        if n <= N_SHOWN:
            return ""
        if self.are_chosen:
            return f"The first {N_SHOWN} of {n} models."
        return f"The {N_SHOWN} of {n} models with the best mean {measure_of(self.measures[0]).title}."

    def about_size(self) -> str:
        """A sentence on the training size of what is shown; empty for cross-validation."""
        if self.size is None:
            return ""
        n, n_all = len(self.at.datasets), len(self.results.datasets)
        which = f"all {n_all} data sets have" if n == n_all else f"{n} of {n_all} data sets have, more than any other"
        return f"At {self.size:,} training rows, the largest size that {which}."

    def about_common(self, measures: Sequence[str]) -> str:
        """A sentence on measures of which no data set has the values of all models; empty if there is none such."""
        if not measures:
            return ""
        return (
            f"{joined([measure_of(name).title for name in measures])}: there is no data set on which every model has "
            "a value, so there is nothing to compare; choose models that did not fail with --models."
        )


def view_of(results: Results, models: Sequence[str] | None = None, measures: Sequence[str] | None = None) -> View:
    """Look at some models of results by some measures; all models and the main measures by default."""
    if not results.rows:
        raise DataError("results: there is no cell to report on; let the run go on")
    own = results if models is None else results.only(models=list(dict.fromkeys(models)))
    size = _common_size(own)
    at = own if size is None else own.only(train_size=size)
    return View(own, at, size, _measures(own, measures), models is not None)


def _common_size(results: Results) -> int | None:
    """The training size of most data sets; of those the largest."""
    having: dict[int, set[str]] = {size: set() for size in results.train_sizes}
    for row in results.rows:
        if row.get("train_size") is not None:
            having[row["train_size"]].add(row["dataset"])
    return max(having, key=lambda size: (len(having[size]), size), default=None)


def _measures(results: Results, wanted: Sequence[str] | None) -> tuple[str, ...]:
    if wanted is None:
        return tuple(name for name in MAIN_MEASURES if name in results.scores) or results.scores[:3]
    if not wanted:
        raise DataError(f"measures: name at least one; there are {', '.join(known_measures(results))}")
    known = known_measures(results)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise DataError(f"measure {unknown[0]!r} is not in these results; there are {', '.join(known)}")
    return tuple(dict.fromkeys(wanted))


def known_measures(results: Results) -> list[str]:
    """Scores, costs that were measured, and bias and variance if the predictions are kept."""
    costs = [name for name in COSTS if any(row.get(name) is not None for row in results.rows)]
    has_classes = any(row.get("predicted") is not None for row in results.rows)
    return [*results.scores, *costs, *(("bias", "variance") if has_classes else ())]


def joined(names: Sequence[Any], most: int = 12) -> str:
    """Names in a sentence; of many only the first.

    >>> joined(["a", "b", "c"]), joined(["a", "b", "c"], most=1)
    ('a, b, c', 'a and 2 more')
    """
    told = ", ".join(map(str, names[:most]))
    return told + (f" and {len(names) - most} more" if len(names) > most else "")
