"""Two models over many data sets: wins and losses, and whether they could be chance.

``own[i]`` and ``other[i]`` are the two models' scores on data set i.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import scipy.stats
from scipy.special import gammainc, gammaincinv, ndtr

from countwise.dtypes import FloatArray
from countwise.errors import DataError

DRAW_DECIMALS: Final = 4  # scores that agree to so many are a draw: what the papers print


@dataclass(frozen=True)
class WinDrawLoss:
    """On how many data sets the own model was better, equal and worse."""

    wins: int
    draws: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}-{self.draws}-{self.losses}"

    def sign_test(self, alternative: Literal["two-sided", "greater"] = "two-sided") -> float:
        """p-value of the binomial sign test: are the two models equally likely to win?

        With n = wins + losses, draws left out, ``P(X >= wins)`` of X ~ Binomial(n, 1/2) for ``"greater"`` (is
        the own model better? Used in paper 004, section 2.6), and ``2 P(X >= max(wins, losses))``, at most 1,
        for ``"two-sided"`` (paper 000, section 6.1). The sums are of whole numbers: exact. Nothing but draws
        gives 1.

        >>> WinDrawLoss(3, 1, 0).sign_test(), WinDrawLoss(3, 1, 0).sign_test("greater")
        (0.25, 0.125)
        """
        if alternative not in {"two-sided", "greater"}:
            raise DataError(f"alternative={alternative!r} is not known; there are 'two-sided' and 'greater'")
        n = self.wins + self.losses
        least = self.wins if alternative == "greater" else max(self.wins, self.losses)
        tail = sum(math.comb(n, i) for i in range(least, n + 1)) / 2**n
        return tail if alternative == "greater" else min(1.0, 2.0 * tail)


def win_draw_loss(
    own: npt.ArrayLike, other: npt.ArrayLike, *, decimals: int = DRAW_DECIMALS, higher_is_better: bool = False
) -> WinDrawLoss:
    """Count the data sets on which the own score is better; scores equal after rounding are a draw.

    What a table with that many decimals shows as equal is equal: 0.12341 and 0.12344 are a draw.

    >>> str(win_draw_loss([0.1, 0.2, 0.30001], [0.2, 0.1, 0.3])), win_draw_loss([0.9], [0.8], higher_is_better=True)
    ('1-1-1', WinDrawLoss(wins=1, draws=0, losses=0))
    """
    first, second = _paired(own, other)
    gain = np.round(second, decimals) - np.round(first, decimals)
    better, worse = int((gain > 0).sum()), int((gain < 0).sum())
    if higher_is_better:
        better, worse = worse, better
    return WinDrawLoss(better, len(first) - better - worse, worse)


def wilcoxon(own: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Two-sided p-value of the signed-rank test: are the differences symmetric about 0?

    The absolute differences are ranked; the ranks of the gains and those of the losses should add up to about
    the same (Wilcoxon 1945, *Individual comparisons by ranking methods*, Biometrics Bulletin 1). It sees how
    large a win is, which the sign test does not (Demsar 2006, *Statistical comparisons of classifiers over
    multiple data sets*, JMLR 7, section 3.1.3). Data sets without a difference are left out, as Wilcoxon did and
    as the sign test does; if all are, the p-value is 1. The distribution is that of
    ``scipy.stats.wilcoxon``: exact for up to 50 differences without ties.

    All of four differences of one sign have a chance of 2 in 2^4:

    >>> wilcoxon([0.1, 0.2, 0.3, 0.4, 0.5], [0.2, 0.4, 0.6, 0.8, 0.5])
    0.125
    """
    first, second = _paired(own, other)
    difference = (first - second)[first != second]
    return float(scipy.stats.wilcoxon(difference).pvalue) if len(difference) else 1.0


def geometric_mean_ratio(own: npt.ArrayLike, other: npt.ArrayLike, *, floor: float | None = None) -> float:
    """``exp(mean_i log(own_i / other_i))``: below 1 the own scores are smaller, data set by data set.

    The mean of ratios that treats both models alike: swapped, it is the inverse (Fleming and Wallace 1986, *How
    not to lie with statistics*, Communications of the ACM 29). A ratio needs positive scores: others are an
    error, unless ``floor`` is given, which stands in for all scores below it.

    >>> round(geometric_mean_ratio([1.0, 8.0], [2.0, 4.0]), 6)  # half on one, double on the other
    1.0
    >>> round(geometric_mean_ratio([0.0], [0.04], floor=0.01), 6)
    0.25
    """
    first, second = _paired(own, other)
    if floor is not None:
        if not floor > 0.0:
            raise DataError(f"floor={floor}: a ratio needs positive scores; give a floor above 0")
        first, second = np.maximum(first, floor), np.maximum(second, floor)
    for name, scores in (("own", first), ("other", second)):
        if not (scores > 0.0).all():
            place = int((scores <= 0.0).argmax())
            raise DataError(
                f"{name}: position {place} is {scores[place]}, and ratios need positive scores; pass floor="
            )
    return float(np.exp(np.mean(np.log(first) - np.log(second))))


@dataclass(frozen=True)
class BayesianSignTest:
    """Probabilities that most data sets are ones on which the own model is better, equivalent or worse."""

    better: float
    equivalent: float
    worse: float


def bayesian_sign_test(
    own: npt.ArrayLike,
    other: npt.ArrayLike,
    *,
    rope: float = 0.0,
    prior: float = 1.0,
    higher_is_better: bool = False,
) -> BayesianSignTest:
    """How probable it is that on a further data set the own model is more likely to win than anything else.

    Differences up to ``rope`` (region of practical equivalence) count as equivalent. The chances of (better,
    equivalent, worse) have the posterior Dirichlet(wins, draws + prior, losses): the prior is worth ``prior``
    data sets without a difference. Each of the three is given with the probability that it is the greatest
    (Benavoli, Corani, Demsar and Zaffalon 2017, *Time for a change*, JMLR 18).

    Shares of a Dirichlet are Gamma variables over their sum, so the probability that share i is the greatest is
    the integral of ``prod_j F_j(x)`` over Gamma i, F_j the other two's distribution functions: no sampling.

    >>> result = bayesian_sign_test([0.1, 0.2, 0.3], [0.2, 0.3, 0.4])  # Dirichlet(3, 1, 0): 1 - 1/2^3
    >>> round(result.better, 6), round(result.equivalent, 6), result.worse
    (0.875, 0.125, 0.0)
    """
    if not (rope >= 0.0 and prior >= 0.0):
        raise DataError(f"rope={rope}, prior={prior}: neither may be negative")
    first, second = _paired(own, other)
    gain = (first - second) if higher_is_better else (second - first)
    wins, losses = float((gain > rope).sum()), float((gain < -rope).sum())
    shape = (wins, len(gain) - wins - losses + prior, losses)
    return BayesianSignTest(*(_greatest(shape[i], shape[:i] + shape[i + 1 :]) for i in range(3)))


def _greatest(shape: float, others: tuple[float, ...]) -> float:
    """Probability that a Gamma variable of that shape exceeds independent ones of the others' shapes."""
    if shape == 0.0:  # always 0, and never above the rest
        return 0.0
    # Points spread like a normal variable's quantiles: there the integrand is smooth and vanishes at both ends,
    # and the trapezoidal rule is exact to rounding (tests compare it with the incomplete beta function).
    z = np.linspace(-9.0, 9.0, 201)
    x = gammaincinv(shape, ndtr(z))
    density = np.exp(-(z**2) / 2.0)
    chance = density
    for other in others:
        if other > 0.0:
            chance = chance * gammainc(other, x)
    return float(chance.sum() / density.sum())


def _paired(own: npt.ArrayLike, other: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Two columns of finite numbers, of equal length."""
    columns = []
    for name, values in (("own", own), ("other", other)):
        column = np.asarray(values, dtype=np.float64)  # None becomes NaN
        if column.ndim != 1 or len(column) == 0:
            raise DataError(f"{name}: one score for each data set is needed; shape {column.shape}")
        if not np.isfinite(column).all():
            place = int((~np.isfinite(column)).argmax())
            raise DataError(f"{name}: position {place} is {column[place]}; leave out data sets without a score")
        columns.append(column)
    if len(columns[0]) != len(columns[1]):
        raise DataError(f"own has {len(columns[0])} scores, other {len(columns[1])}; give both for the same data sets")
    return columns[0], columns[1]
