"""Results of an experiment: one row per cell, pooled summaries, tables of a measure by data set and model."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.evaluate.bias_variance import bias_variance, unpack_codes
from countwise.evaluate.folds import stratified_folds
from countwise.evaluate.measures import pool
from countwise.evaluate.reliability import ReliabilityBins
from countwise.evaluate.store import Row, Store

if TYPE_CHECKING:
    import pyarrow as pa

MEAN = "(mean)"  # the "data set" of the averages
SECONDS = ("fit_seconds", "predict_seconds")
BIAS_VARIANCE = ("bias", "variance")
COSTS = (*SECONDS, "peak_bytes", "model_bytes")
PACKED = ("predicted", "reliability")  # columns that are for programs


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """One measure: ``values[i, j]`` of data set i and model j, on the data sets where no model failed."""

    measure: str
    datasets: list[str]
    models: list[str]
    values: FloatArray

    def column(self, model: str) -> FloatArray:
        """The values of one model."""
        if model not in self.models:
            raise DataError(f"model {model!r} is not in these results; there are {', '.join(self.models)}")
        return self.values[:, self.models.index(model)]


@dataclass(frozen=True, eq=False)
class Results:
    """One row for each cell: data set, model, repeat, fold, sizes, scores, costs, ``error``.

    A row of a cell that failed has the message as its ``error`` and None for its scores.

    Examples
    --------
    >>> row = {"dataset": "d", "model": "nb", "repeat": 0, "n_train": 4}
    >>> row |= {"fit_seconds": 0.5, "predict_seconds": 0.1}
    >>> rows = [row | {"fold": 0, "n_test": 6, "rmse": 0.0, "error": None},
    ...         row | {"fold": 1, "n_test": 2, "rmse": 0.4, "error": None}]
    >>> print(Results(rows, ("rmse",)))
    dataset  model    rmse  fit_seconds  predict_seconds  n_cells  n_failed
    -----------------------------------------------------------------------
    d        nb     0.2000       0.5000           0.1000        2         0

    """

    rows: list[Row]
    scores: tuple[str, ...]
    problems: Mapping[str, Row] = field(default_factory=dict)  # by data set: sizes, and the classes of all rows
    settings: Mapping[tuple[str, str], Row] = field(default_factory=dict)  # by data set and model
    runs: Sequence[Row] = ()  # machine and versions of each run that added cells

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Everything that a store holds, in the order in which it was planned: cells may end in any order."""
        store = Store.read(path)
        scores = tuple(dict.fromkeys(score for item in store.settings.values() for score in item["scores"]))
        planned = {key: place for place, key in enumerate(store.settings)}
        models = {model: place for place, model in enumerate(dict.fromkeys(model for _, model in store.settings))}

        def place(row: Row) -> tuple[int, int, int, int, int]:
            first = min(planned[row["dataset"], model] for model in models if (row["dataset"], model) in planned)
            return first, row.get("train_size") or 0, row["repeat"], row["fold"], models[row["model"]]

        return cls(sorted(store.rows.values(), key=place), scores, store.problems, store.settings, store.runs)

    @cached_property
    def datasets(self) -> list[str]:
        """Names, as they come."""
        return self._distinct("dataset")

    @cached_property
    def models(self) -> list[str]:
        """Names, as they come."""
        return self._distinct("model")

    @cached_property
    def train_sizes(self) -> list[int]:
        """The sizes that the protocol has set, ascending; none for cross-validation."""
        return sorted({row["train_size"] for row in self.rows if row.get("train_size") is not None})

    @property
    def failures(self) -> list[Row]:
        """The rows of the cells that failed."""
        return [row for row in self.rows if row["error"] is not None]

    def only(
        self,
        *,
        datasets: Iterable[str] | None = None,
        models: Iterable[str] | None = None,
        train_size: int | None = None,
    ) -> "Results":
        """A part of the rows; models and data sets in the order given."""
        for what, names, known in (("dataset", datasets, self.datasets), ("model", models, self.models)):
            missing = sorted(set(names or ()) - set(known))
            if missing:
                raise DataError(f"{what} {missing[0]!r} is not in these results")
        place = {name: i for i, name in enumerate(models or self.models)}
        kept = set(self.datasets if datasets is None else datasets)
        rows = [row for row in self.rows if row["dataset"] in kept and row["model"] in place]
        if train_size is not None:
            rows = [row for row in rows if row.get("train_size") == train_size]
        return Results(
            sorted(rows, key=lambda row: place[row["model"]]), self.scores, self.problems, self.settings, self.runs
        )

    def summary(self) -> list[Row]:
        """One row per data set, model and training size; then, for several data sets, one per model with plain means.

        Scores are those of all test predictions put together: the squared errors are averaged over the rows
        of all folds before the root (``ece`` and ``roc_auc``, which belong to a fold, are means over folds by size).
        Seconds are means per fold. The means over data sets take those on which no model failed,
        ``n_datasets`` of them.
        """
        lines = []
        sizes: list[int | None] = [*self.train_sizes] or [None]
        for dataset in self.datasets:
            for model in self.models:
                for size in sizes:
                    rows = self._groups.get((dataset, model, size), [])
                    if size is not None and not rows:
                        continue  # the data set is smaller
                    sized = {} if size is None else {"train_size": size}
                    lines.append({"dataset": dataset, "model": model} | sized | self._pooled(rows))
        return lines + (self._means(lines) if len(self.datasets) > 1 and not self.train_sizes else [])

    def table(self, measure: str, models: Sequence[str] | None = None) -> ScoreTable:
        """One measure, of the data sets on which all models have the same cells and none of these failed.

        Beside scores and seconds, ``bias`` and ``variance`` (of repeated cross-validation) are measures.
        """
        names = self.models if models is None else list(models)
        unknown = [name for name in names if name not in self.models]
        if unknown:
            raise DataError(f"model {unknown[0]!r} is not in these results; there are {', '.join(self.models)}")
        known = (*self.scores, *COSTS, *BIAS_VARIANCE)
        if measure not in known:
            raise DataError(f"measure {measure!r} is not in these results; there are {', '.join(known)}")
        value = self._bias_variance if measure in BIAS_VARIANCE else self._pooled_measure
        complete = [d for d in self.datasets if len({self._splits(d, m) for m in names}) == 1]
        columns = {(d, m): value(d, m, measure) for d in complete for m in names}
        datasets = [d for d in complete if all(columns[d, m] is not None for m in names)]
        matrix = np.array([[columns[d, m] for m in names] for d in datasets], dtype=np.float64)
        return ScoreTable(measure, datasets, names, matrix.reshape(len(datasets), len(names)))

    def reliability(self, model: str, datasets: Iterable[str] | None = None) -> ReliabilityBins:
        """Stated and observed sums by bin, of all test predictions; each data set counts alike.

        The weights add up to the effective number of rows, ``D^2 / sum_d 1 / n_d`` of D data sets (Kish 1965, *Survey
        Sampling*): so intervals are those of independent rows. A row counts once, however many repeats predicted it.
        """
        total: dict[str, ReliabilityBins] = {}
        repeats: dict[str, set[int]] = {}
        for row in self.only(datasets=datasets, models=[model]).rows:
            if row.get("reliability") is not None:
                bins = ReliabilityBins(*(np.asarray(part, dtype=np.float64) for part in row["reliability"]))
                name = row["dataset"]
                total[name] = total[name] + bins if name in total else bins
                repeats.setdefault(name, set()).add(row["repeat"])
        if not total:
            raise DataError(f"model {model!r} has no cell that ended well")
        n_rows = np.array([bins.weight.sum() / len(repeats[name]) for name, bins in total.items()])
        effective = len(n_rows) ** 2 / (1.0 / n_rows).sum()
        shares = [np.array([b.weight, b.stated, b.happened]) / b.weight.sum() for b in total.values()]
        return ReliabilityBins(*(effective * np.mean(shares, axis=0)))

    def to_arrow(self) -> "pa.Table":
        """The rows as a ``pyarrow.Table``."""
        import pyarrow as pa

        floats = {*SECONDS, *self.scores}
        names = [name for name in (self.rows[0] if self.rows else []) if name not in PACKED]
        types = {"error": pa.string(), "train_size": pa.int64(), "peak_bytes": pa.int64(), "model_bytes": pa.int64()}
        types |= dict.fromkeys(floats, pa.float64())
        return pa.table({name: pa.array([row.get(name) for row in self.rows], types.get(name)) for name in names})

    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``; pandas must be installed."""
        try:
            import pandas  # noqa: F401
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("to_pandas needs pandas: pip install pandas, or use to_arrow()") from error
        return self.to_arrow().to_pandas()

    def __str__(self) -> str:
        text = format_table(self.summary())
        failed = self.failures
        if failed:
            first = failed[0]
            text += (
                f"\n{len(failed)} of {len(self.rows)} cells failed; the first: {first['model']} on "
                f"{first['dataset']}: {first['error']}"
            )
        return text

    def _distinct(self, name: str) -> list[str]:
        return list(dict.fromkeys(row[name] for row in self.rows))

    @cached_property
    def _groups(self) -> dict[tuple[str, str, int | None], list[Row]]:
        """The cells of each data set, model and training size."""
        groups: dict[tuple[str, str, int | None], list[Row]] = {}
        for row in self.rows:
            groups.setdefault((row["dataset"], row["model"], row.get("train_size")), []).append(row)
        return groups

    def _cells(self, dataset: str, model: str) -> list[Row]:
        """The cells of a data set and a model; none if one of them failed."""
        if len(self.train_sizes) > 1:
            raise DataError("the results have several training sizes; choose one with only(train_size=...)")
        rows = self._groups.get((dataset, model, self.train_sizes[0] if self.train_sizes else None), [])
        return [] if any(row["error"] is not None for row in rows) else rows

    def _splits(self, dataset: str, model: str) -> frozenset[tuple[int, int]]:
        """The splits of which there is a cell that ended well."""
        return frozenset((row["repeat"], row["fold"]) for row in self._cells(dataset, model))

    def _pooled_measure(self, dataset: str, model: str, measure: str) -> float | None:
        rows = self._cells(dataset, model)
        if measure in COSTS:
            known = [row[measure] for row in rows if row.get(measure) is not None]
            return float(np.mean(known)) if known else None
        return pool(measure, [row[measure] for row in rows], [row["n_test"] for row in rows]) if rows else None

    def _pooled(self, rows: list[Row]) -> Row:
        good = [row for row in rows if row["error"] is None]
        n_test = [row["n_test"] for row in good]
        line: Row = {s: pool(s, [row[s] for row in good], n_test) if good else None for s in self.scores}
        for name in COSTS:
            known = [row[name] for row in good if row.get(name) is not None]
            if known or name in SECONDS:
                line[name] = float(np.mean(known)) if known else None
        return line | {"n_cells": len(rows), "n_failed": len(rows) - len(good)}

    def _means(self, lines: list[Row]) -> list[Row]:
        bad = {line["dataset"] for line in lines if line["n_failed"] or not line["n_cells"]}
        means = []
        for model in self.models:
            own = [line for line in lines if line["model"] == model]
            good = [line for line in own if line["dataset"] not in bad]
            mean: Row = {"dataset": MEAN, "model": model}
            for name in (*self.scores, *COSTS):
                known = [line[name] for line in good if line.get(name) is not None]
                if known or name in (*self.scores, *SECONDS):
                    mean[name] = float(np.mean(known)) if known else None
            mean |= {name: sum(line[name] for line in own) for name in ("n_cells", "n_failed")}
            means.append(mean | {"n_datasets": len(good)})
        return means

    def _bias_variance(self, dataset: str, model: str, measure: str) -> float | None:
        """Of a data set and a model with two repeats or more, all complete."""
        packed = {(row["repeat"], row["fold"]): row["predicted"] for row in self._cells(dataset, model)}
        settings, facts = self.settings.get((dataset, model), {}), self.problems.get(dataset, {})
        if not packed or "n_splits" not in settings:
            return None  # failed, or another protocol
        n_splits, n_repeats = settings["n_splits"], 1 + max(repeat for repeat, _ in packed)
        if n_repeats < 2 or len(packed) < n_splits * n_repeats:
            return None  # one repeat has no variance to see
        codes = unpack_codes(facts["codes"], facts["n_rows"])
        predicted = np.empty((n_repeats, len(codes)), dtype=np.int64)
        for repeat in range(n_repeats):
            folds = stratified_folds(codes, n_splits, seed=(settings["random_state"], repeat))
            for fold in range(n_splits):
                at = folds == fold
                predicted[repeat, at] = unpack_codes(packed[repeat, fold], int(at.sum()))
        return float(getattr(bias_variance(codes, predicted), measure))


def format_table(lines: Sequence[Row], columns: Iterable[str] | None = None) -> str:
    """Dictionaries as a text table: text to the left, numbers to the right, 4 digits, None as ``-``.

    >>> print(format_table([{"model": "nb", "rmse": 0.25}, {"model": "tan", "rmse": None}]))
    model    rmse
    -------------
    nb     0.2500
    tan         -
    """
    names = list(columns) if columns is not None else list(dict.fromkeys(k for line in lines for k in line))
    cells = [[format_value(line.get(name)) for name in names] for line in lines]
    is_text = [any(isinstance(line.get(name), str) for line in lines) for name in names]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]

    def joined(parts: Sequence[str]) -> str:
        padded = (p.ljust(w) if t else p.rjust(w) for p, w, t in zip(parts, widths, is_text, strict=True))
        return "  ".join(padded).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([joined(names), rule, *map(joined, cells)])


def format_value(value: Any) -> str:
    """A table's cell as text."""
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
