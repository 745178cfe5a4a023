"""Named experiments: which models, which data sets, which protocol, and what a paper printed for them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from countwise.errors import DataError
from countwise.evaluate.protocols import RepeatedFolds, Splits

Picture = Literal["scatter", "win-loss", "curves", "differences", "means", "times"]


@dataclass(frozen=True)
class Versus:
    """A line of a win-draw-loss table: ``paper`` holds the printed "41-4-23" by measure."""

    label: str
    own: str
    other: str
    paper: Mapping[str, str]


@dataclass(frozen=True)
class Average:
    """A line of a table of means over data sets: ``paper`` holds the printed means by measure."""

    label: str
    model: str
    paper: Mapping[str, float]


@dataclass(frozen=True)
class Line:
    """A line of a win-loss plot: at each ``(x, own, other)`` the wins and losses of own against other."""

    label: str
    points: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper, or one of ours.

    ``sets`` is a table of the manifest's ``seed_tables`` or a tuple of names. ``differs`` says, for those who compare,
    what is not as in the paper.
    """

    name: str
    title: str
    sets: str | tuple[str, ...]
    protocol: Splits = field(default_factory=RepeatedFolds)
    prepare: str = "none"
    measures: tuple[str, ...] = ("zero_one_loss", "rmse")
    versus: tuple[Versus, ...] = ()
    averages: tuple[Average, ...] = ()
    lines: tuple[Line, ...] = ()
    others: tuple[str, ...] = ()  # models that no table or line names
    picture: Picture | None = None
    tail: Literal["two-sided", "greater"] = "two-sided"
    n_sets: int = 0  # that the paper had
    differs: str = ""

    @property
    def models(self) -> tuple[str, ...]:
        """All models, each once."""
        names = [name for one in self.versus for name in (one.own, one.other)]
        names += [one.model for one in self.averages]
        names += [name for one in self.lines for point in one.points for name in point[1:]]
        return tuple(dict.fromkeys([*names, *self.others]))


def experiment(name: str) -> Experiment:
    """The experiment of this name.

    >>> experiment("paper000-table4").title
    'HDP against m-estimates in eight networks (paper 000, Table 4)'
    """
    from countwise.evaluate.papers import EXPERIMENTS

    if name not in EXPERIMENTS:
        raise DataError(f"experiment {name!r} is not known; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def absent_models(one: Experiment) -> dict[str, str]:
    """Models of an experiment that cannot be made here, with the reason.

    >>> absent_models(experiment("paper000-table4"))
    {}
    """
    from countwise.evaluate.models import UnavailableError, make_model

    absent = {}
    for model in one.models:
        try:
            make_model(model)
        except UnavailableError as error:
            absent[model] = str(error)
    return absent
