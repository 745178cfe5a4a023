"""Many models on many data sets by one protocol: every cell is kept as it ends, and a stopped run goes on."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from countwise.errors import DataError
from countwise.estimators.door import machine_memory
from countwise.evaluate.cell import Cell, run_cell
from countwise.evaluate.environment import environment
from countwise.evaluate.problems import Problems
from countwise.evaluate.protocols import RepeatedFolds, Splits, as_protocol
from countwise.evaluate.results import Results
from countwise.evaluate.scores import SCORES, ScoreFunction
from countwise.evaluate.store import Row, Store
from countwise.evaluate.workers import Limits, Workers
from countwise.progress import Progress, progress_bar, use_progress

MEMORY_SHARE: Final = 0.8  # of the machine, for all workers together
CELL_VALUES: Final = 300_000  # table values that cost as much time as what a cell costs whatever its size


def benchmark(
    models: Mapping[str, Any],
    data: Any,
    protocol: str | Splits = "5x2",
    *,
    prepare: str = "none",
    max_rows: int | None = None,
    random_state: int = 0,
    store: str | os.PathLike[str] | None = None,
    retry_failed: bool = False,
    n_workers: int = 0,
    threads: int = 1,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Progress | bool | None = None,
    scores: Sequence[str] | Mapping[str, ScoreFunction] = tuple(SCORES),
) -> Results:
    """Fit and score every model on every split of every data set.

    Parameters
    ----------
    models : dict of str to estimator
        Anything with ``fit`` and ``predict_proba``; a fresh clone is fitted for every cell. Names of models, ours and
        rivals, become estimators by :func:`countwise.evaluate.make_model`.
    data : object with ``name``, ``X`` and ``y``, a list of those, or mapping of name to ``(X, y)``
        As of ``countwise.datasets``. ``X`` is of NumPy, SciPy sparse, pandas, polars or pyarrow. A mapping is
        read as the run goes on, one data set at a time.
    protocol : str or protocol, default "5x2"
        Which rows train and test: ``"5x2"``, ``"10-fold"``, ``"sizes"``, ``"curve"`` or an object of
        :mod:`countwise.evaluate.protocols`.
    prepare : str, default "none"
        What is done to the whole table before it is split: see :mod:`countwise.evaluate.prepare`.
    max_rows : int, optional
        Larger data sets are cut to a stratified sample of so many rows.
    random_state : int
        The splits depend on it, the repeat and the labels alone: they are the same for all models.
    store : path of a ``.jsonl`` file, optional
        Each result is appended as it is made, and a second run takes up what is there. Rows of the same model and
        data set names made with other settings (protocol, seed, scores, parameters, or data of another shape, types
        or labels) are refused with an error before any work.
    retry_failed : bool
        Try cells again that failed in an earlier run; else they stay as they are.
    n_workers : int, default 0
        Processes that do the cells. 0 works in this process: then there is no time or memory limit, and a crash
        ends the run.
    threads : int
        Threads that libraries may use in a worker; those of a model are its own parameter.
    time_limit : float, optional
        Seconds per cell.
    memory_limit : int, optional
        Bytes per worker; None shares 80 % of the machine.
    progress : bool or Progress, optional
        True for a text bar on stderr; None for the reporter in use, see :mod:`countwise.progress`.
    scores : names in ``SCORES``, or dict of name to function
        Functions are called as ``score(y, proba, classes, sample_weight)`` with labels ``0 .. C - 1``.

    Returns
    -------
    Results
        One row for each cell. A cell that fails gives a row whose ``error`` says how (an exception, ``TimeLimit``,
        ``OutOfMemory`` or ``Crash``), and the run goes on. A class that was absent from the training rows has
        probability 0; if only one class was there, it has probability 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> results = benchmark({"gnb": GaussianNB()}, {"iris": load_iris(return_X_y=True)}, "2x2")
    >>> len(results.rows), results.summary()[0]["rmse"] < 0.25
    (4, True)

    """
    functions = dict(scores) if isinstance(scores, Mapping) else {name: _score(name) for name in scores}
    splits = as_protocol(protocol)
    problems = Problems(data, prepare, max_rows, random_state)
    if not models or not problems.names:
        raise DataError("benchmark: at least one model and one data set are needed")
    if n_workers < 0 or threads < 1:
        raise DataError(f"n_workers={n_workers}, threads={threads}: at least 0 processes of 1 thread are possible")
    if n_workers == 0 and (time_limit is not None or memory_limit is not None):
        raise DataError("time_limit and memory_limit need a process that can be ended: pass n_workers=1 or more")
    common = {"prepare": prepare, **splits.settings(), "random_state": random_state, "scores": list(functions)}
    with Store(store) as kept:
        plan = Plan(models, problems, splits, random_state, kept, common, retry_failed)
        limits = Limits(threads, time_limit, _memory(memory_limit, n_workers))
        if plan.n_open:
            kept.add_run(environment() | {"n_workers": n_workers, "threads": threads, "max_rows": max_rows})
        with use_progress(progress), progress_bar("bench", plan.n_open) as bar:
            for cell, row in _rows(plan, problems, functions, n_workers, limits):
                kept.add(row)
                bar.advance(1, plan.work(cell))
        rows = [kept.rows[key] for key in plan.keys]
        return Results(rows, tuple(functions), kept.problems, kept.settings, kept.runs)


def cross_validate(
    models: Mapping[str, Any], data: Any, *, n_repeats: int = 5, n_splits: int = 2, **options: Any
) -> Results:
    """:func:`benchmark` by repeated stratified cross-validation.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> len(cross_validate({"gnb": GaussianNB()}, {"iris": load_iris(return_X_y=True)}, n_splits=3).rows)
    15
    """
    return benchmark(models, data, RepeatedFolds(n_repeats, n_splits), **options)


class Plan:
    """All cells, in order: which are done, which are open, and what each costs in proportion."""

    def __init__(
        self,
        models: Mapping[str, Any],
        problems: Problems,
        splits: Splits,
        seed: int,
        store: Store,
        common: Row,
        retry_failed: bool,
    ) -> None:
        self.models, self.problems, self.splits, self.seed, self.store = models, problems, splits, seed, store
        self.retry_failed = retry_failed
        settings, facts = [], []
        self.keys = []
        cost: dict[str, float] = {}
        n_open: dict[str, int] = {}
        for problem in problems:  # before any work, so that a bad table or a wrong store costs nothing
            identity = problem.identity()
            for name, model in models.items():
                settings.append({"dataset": problem.name, "model": name, "params": describe(model)} | identity | common)
            facts.append(problem.facts())
            cells = [cell.key for cell in self._cells_of(problem.name)]
            self.keys += cells
            n_open[problem.name] = sum(map(self._is_open, cells))
            cost[problem.name] = float(CELL_VALUES + len(problem.y) * problem.n_attributes)
        for item in settings:
            store.check_settings(item)
        for fact in facts:
            store.add_problem(fact)
        for item in settings:
            store.add_settings(item)
        self.n_open = sum(n_open.values())
        total = sum(cost[name] * n for name, n in n_open.items()) or 1.0
        self._share = {name: value / total for name, value in cost.items()}

    def open_cells(self) -> Iterator[Cell]:
        """The cells that are to be done; the data sets in their order, each read once."""
        for name in self.problems.names:
            yield from (cell for cell in self._cells_of(name) if self._is_open(cell.key))

    def work(self, cell: Cell) -> float:
        """The cell's share of all work: by rows and attributes."""
        return self._share[cell.dataset]

    def _is_open(self, key: Any) -> bool:
        row = self.store.rows.get(key)
        return row is None or (self.retry_failed and row["error"] is not None)

    def _cells_of(self, name: str) -> Iterator[Cell]:
        for number, split in enumerate(self.splits.splits(self.problems[name].codes, self.seed)):
            for model_name, model in self.models.items():
                yield Cell(name, model_name, model, split, sized=number == 0)


def _rows(
    plan: Plan, problems: Problems, scores: Mapping[str, ScoreFunction], n_workers: int, limits: Limits
) -> Iterator[tuple[Cell, Row]]:
    if plan.n_open == 0:
        return
    if n_workers == 0:
        for cell in plan.open_cells():
            yield cell, run_cell(problems[cell.dataset], cell, scores)
        return
    with Workers(min(n_workers, plan.n_open), limits) as workers:
        yield from workers.run(plan.open_cells(), problems.__getitem__, scores)


def _memory(limit: int | None, n_workers: int) -> int | None:
    return limit if limit is not None or n_workers == 0 else int(MEMORY_SHARE * machine_memory() / n_workers)


def _score(name: str) -> ScoreFunction:
    if name not in SCORES:
        raise DataError(f"score {name!r} is not known; there are {', '.join(SCORES)}")
    return SCORES[name]


def describe(value: Any) -> str:
    """An estimator's class and parameters, all the way down, without memory addresses (``<f at 0x7f..>``).

    >>> from sklearn.naive_bayes import GaussianNB
    >>> describe(GaussianNB())
    'GaussianNB(priors=None, var_smoothing=1e-09)'
    """
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(describe, value))}]"
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = (f"{k}={describe(v)}" for k, v in sorted(value.get_params(deep=False).items()))
        return f"{type(value).__name__}({', '.join(params)})"
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
