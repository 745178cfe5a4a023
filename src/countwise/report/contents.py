"""What is on the page of a run, computed from its results."""

from collections.abc import Mapping, Sequence

from countwise.errors import counted
from countwise.evaluate.experiments import experiment as experiment_named
from countwise.evaluate.results import Results
from countwise.report.behaviour import calibration_section, cost_section, curves_section
from countwise.report.experiments import experiments_section
from countwise.report.overview import failures_section, overview_section
from countwise.report.page import Page
from countwise.report.scores import datasets_section, means_section, pairs_section, ranks_section
from countwise.report.view import view_of


def page_of(
    results: Results,
    *,
    models: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    experiment: str | None = None,
    tables: Mapping[str, Sequence[str]] | None = None,
    title: str | None = None,
) -> Page:
    """The tables and pictures of results; what they do not allow is told in a sentence.

    Parameters
    ----------
    results : Results
        Of :func:`countwise.evaluate.benchmark`, or read from its store by ``Results.read``.
    models : list of str, optional
        Only these, in this order; else all.
    measures : list of str, optional
        Those of ranks, pairs and pictures, the most important first; else RMSE, 0-1 loss and log loss. The table of
        means has all.
    experiment : str, optional
        Show this experiment of the papers; else all of which there is something in the results.
    tables : dict of str to list of str, optional
        The data sets of the papers' tables, such as ``{"zaidi72": ["abalone", ...]}``; without them the experiments
        are compared over all data sets of the results, and the page says so.
    title : str, optional
        Else the numbers of models and data sets.

    Examples
    --------
    >>> from countwise.evaluate import Results
    >>> row = {"repeat": 0, "fold": 0, "n_train": 9, "n_test": 9, "fit_seconds": 1.0, "predict_seconds": 1.0}
    >>> cells = [("iris", "nb", 0.3), ("iris", "tan", 0.2)]
    >>> rows = [row | {"dataset": d, "model": m, "rmse": s, "error": None} for d, m, s in cells]
    >>> page = page_of(Results(rows, ("rmse",)))
    >>> page.title, page.sections[1].title
    ('2 models on 1 data set', 'Means')

    """
    view = view_of(results, models, measures)
    named = None if experiment is None else experiment_named(experiment)
    curves = curves_section(view)
    sections = [
        overview_section(view),
        means_section(view),
        *experiments_section(view, named, tables),
        ranks_section(view),
        pairs_section(view),
        calibration_section(view),
        cost_section(view),
        *([] if curves is None else [curves]),
        datasets_section(view),
        failures_section(view),
    ]
    own = view.results
    made = f"{counted(len(own.models), 'model')} on {counted(len(own.datasets), 'data set')}"
    return Page(made if title is None else title, tuple(sections))
