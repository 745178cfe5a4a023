"""Several models over many data sets: average ranks, and which of them differ by more than chance."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.stats

from countwise.dtypes import FloatArray
from countwise.errors import DataError


@dataclass(frozen=True, eq=False)
class Friedman:
    """Average rank of each model (1 is best), and two tests of whether the ranks could all be equal."""

    average_ranks: FloatArray
    n_datasets: int
    chi_square: float
    p_value: float  # of chi_square, k - 1 degrees of freedom
    iman_davenport: float
    iman_davenport_p_value: float  # of F, k - 1 and (k - 1)(N - 1) degrees of freedom


def friedman(scores: npt.ArrayLike, higher_is_better: bool = False) -> Friedman:
    """Rank the models on every data set and test whether their average ranks differ.

    With N data sets, k models and average ranks R_j, equal scores sharing the mean of their ranks,

    - ``chi_square = 12 N / (k (k + 1)) (sum_j R_j^2 - k (k + 1)^2 / 4) / c`` (Friedman 1937; so in Zaidi et al. 2017,
      *Efficient parameter learning of Bayesian network classifiers*, Machine Learning 106, appendix C), where
      ``c = 1 - sum (t^3 - t) / (N k (k^2 - 1))`` corrects for groups of t equal scores and is 1 without ties;
    - ``F = (N - 1) chi_square / (N (k - 1) - chi_square)``, which is less conservative (Iman and Davenport 1980;
      recommended by Demsar 2006, *Statistical comparisons of classifiers over multiple data sets*, JMLR 7, section
      3.2.2).

    Models that are equal on every data set give 0 and p-values of 1; the same order on all data sets gives an F
    of infinity.

    Parameters
    ----------
    scores : (n_datasets, n_models)
        Finite numbers, of 2 data sets and 2 models or more.
    higher_is_better : bool
        Whether the greatest score has rank 1, as of ``Measure``.

    Examples
    --------
    >>> result = friedman([[0.1, 0.2, 0.3], [0.1, 0.3, 0.2], [0.1, 0.2, 0.3], [0.2, 0.1, 0.3]])
    >>> result.average_ranks, result.chi_square, round(result.p_value, 4), round(result.iman_davenport, 4)
    (array([1.25, 2.  , 2.75]), 4.5, 0.1054, 3.8571)

    """
    table = _checked(scores)
    n, k = table.shape
    ranks = scipy.stats.rankdata(-table if higher_is_better else table, axis=1)
    average = ranks.mean(axis=0)
    # Both in fourths of a whole number and so exact: the extremes 0 and N (k - 1) are met without rounding.
    spread = float(((ranks.sum(axis=0) - n * (k + 1) / 2.0) ** 2).sum())
    most = float(((ranks - (k + 1) / 2.0) ** 2).sum()) * n
    agreement = spread / most if most else 0.0  # Kendall's W, with ties
    chi_square = agreement * n * (k - 1)
    f = (n - 1) * agreement / (1.0 - agreement) if agreement < 1.0 else math.inf
    return Friedman(
        average_ranks=average,
        n_datasets=n,
        chi_square=chi_square,
        p_value=float(scipy.stats.chi2.sf(chi_square, k - 1)),
        iman_davenport=f,
        iman_davenport_p_value=float(scipy.stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
    )


@dataclass(frozen=True)
class Nemenyi:
    """The least significant difference of average ranks, and the groups of models that it leaves together.

    ``cliques``: positions of models, best first; each group is as large as can be, groups may overlap, a model
    that differs from all others is in none. A critical-difference diagram draws a bar for each.
    """

    critical_difference: float
    cliques: tuple[tuple[int, ...], ...]


def nemenyi(result: Friedman, alpha: float = 0.05) -> Nemenyi:
    """Which models differ after a Friedman test: those whose average ranks are a critical difference apart.

    ``CD = q_alpha sqrt(k (k + 1) / (6 N))``, q_alpha the upper quantile of the studentized range of k means with
    infinite degrees of freedom, over sqrt(2): 2.344 for k = 3 (Nemenyi 1963, *Distribution-free multiple
    comparisons*, thesis, Princeton; Demsar 2006, section 3.2.2, whose table 5 has 2.343, as have Zaidi et al. 2017,
    appendix C). A difference of CD is significant.

    >>> ranks = friedman([[0.1, 0.2, 0.3]] * 8 + [[0.2, 0.1, 0.3]] * 8)
    >>> round(nemenyi(ranks).critical_difference, 4), nemenyi(ranks).cliques
    (0.8286, ((0, 1),))
    """
    if not 0.0 < alpha < 1.0:
        raise DataError(f"alpha={alpha}: a level between 0 and 1 is needed")
    k = len(result.average_ranks)
    q = float(scipy.stats.studentized_range.ppf(1.0 - alpha, k, np.inf)) / math.sqrt(2.0)
    difference = q * math.sqrt(k * (k + 1) / (6.0 * result.n_datasets))
    return Nemenyi(difference, find_cliques(result.average_ranks, difference))


def find_cliques(average_ranks: FloatArray, difference: float) -> tuple[tuple[int, ...], ...]:
    """Maximal runs of two or more models in the order of ranks that lie within less than ``difference``.

    >>> find_cliques(np.array([9.0, 1.0, 2.0, 3.0]), 1.5)
    ((1, 2), (2, 3))
    """
    order = np.argsort(average_ranks, kind="stable")
    ordered = average_ranks[order]
    ends = np.searchsorted(ordered, ordered + difference, side="left")
    cliques = []
    covered = 0
    for start, end in enumerate(ends.tolist()):
        if end > covered and end - start > 1:  # else it is part of an earlier run, or a model alone
            cliques.append(tuple(order[start:end].tolist()))
        covered = max(covered, end)
    return tuple(cliques)


def _checked(scores: npt.ArrayLike) -> FloatArray:
    table = np.asarray(scores, dtype=np.float64)  # None becomes NaN
    if table.ndim != 2 or min(table.shape) < 2:
        raise DataError(f"scores: shape {table.shape}; at least 2 data sets (rows) x 2 models (columns) are needed")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0].tolist()
        raise DataError(f"scores: data set {row}, model {column} is {table[row, column]}; leave out that data set")
    return table
