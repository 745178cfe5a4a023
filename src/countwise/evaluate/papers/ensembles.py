"""Experiments on ESKDB, an ensemble of selective kDBs: paper 004, chapter 4."""

from functools import partial
from typing import Final

from countwise.evaluate.experiments import Average, Experiment, Versus
from countwise.evaluate.papers.printed import mean, wdl
from countwise.evaluate.protocols import RepeatedFolds

of_chapter: Final = partial(
    Experiment, sets="eskdb72", n_sets=72, tail="greater", protocol=RepeatedFolds(once_above=100_000)
)
VB: Final = "HDP by variational inference; the paper sampled, 1,000 Gibbs sweeps."
SAME_CUTS: Final = "eskdb-m(random_cuts=false)"  # the paper's ESKDB_randomO
SAME_ORDER: Final = "eskdb-m(random_order=false)"  # the paper's ESKDB_randomCP
TYINGS: Final = ("level", "parent", "single", "node")


def paper004_ensembles() -> list[Experiment]:
    """Zhang 2020, chapter 4."""
    return [_table5(), *_randomness(), _sizes(), _tyings(), *_hdp_and_rivals()]


def _table5() -> Experiment:
    printed = {
        "NB": ("nb", wdl("60-1-11", "63-0-9"), mean(0.2753, 0.2074)),
        "TAN": ("tan", wdl("57-2-13", "64-0-8"), mean(0.2568, 0.1858)),
        "KDB": ("kdb5", wdl("61-2-9", "64-0-8"), mean(0.2557, 0.1851)),
        "KDF": ("kdf", wdl("67-2-3", "71-0-1"), mean(0.2512, 0.1858)),
        "AODE": ("aode", wdl("60-0-12", "62-1-9"), mean(0.2498, 0.1821)),
        "SKDB": ("skdb5", wdl("59-3-10", "60-0-12"), mean(0.2418, 0.1706)),
    }
    # The paper's m is 1 (1 / C for each class), which is what -m means for ensembles; for networks it is chosen.
    singles = {label: f"{name}-m" for label, (name, _, _) in printed.items() if label not in ("KDF", "AODE")}
    names = {label: f"{name}-m" for label, (name, _, _) in printed.items()}
    names |= {label: f"{name}(smoothing__m=1)" for label, name in singles.items()}
    return of_chapter(
        "paper004-table5",
        "ESKDB against other networks (paper 004, Table 5 and Fig. 9; means of Table 12)",
        versus=(
            *(Versus(f"ESKDB vs {label}", "eskdb-m", names[label], paper) for label, (_, paper, _) in printed.items()),
            *(Versus(f"ESKDB vs {label}, m chosen", "eskdb-m", name, {}) for label, name in singles.items()),
        ),
        averages=(
            *(Average(label, names[label], paper) for label, (_, _, paper) in printed.items()),
            Average("ESKDB", "eskdb-m", mean(0.2252, 0.1565)),
            *(Average(f"{label}, m chosen", name, {}) for label, name in singles.items()),
        ),
        picture="means",
        differs="Lines with 'm chosen', on held-out rows, are not the paper's.",
    )


def _randomness() -> list[Experiment]:
    printed = {"eskdb-m": 0.2248, SAME_CUTS: 0.2326, SAME_ORDER: 0.2312}
    labels = {"eskdb-m": "ESKDB", SAME_CUTS: "random orders only", SAME_ORDER: "random cut points only"}
    pairs = {10: ("eskdb-m", SAME_CUTS), 11: ("eskdb-m", SAME_ORDER), 12: (SAME_ORDER, SAME_CUTS)}
    return [
        of_chapter(
            f"paper004-fig{number}",
            f"{labels[own]} against {labels[other]} (paper 004, Fig. {number})",
            versus=(Versus(f"{labels[own]} vs {labels[other]}", own, other, {}),),
            averages=tuple(Average(labels[name], name, {"rmse": printed[name]}) for name in (own, other)),
            picture="scatter",
        )
        for number, (own, other) in pairs.items()
    ]


def _sizes() -> Experiment:
    names = {n: "eskdb-m" if n == 10 else f"eskdb-m(n_estimators={n})" for n in (1, 10, 20, 30)}
    steps = ((10, 1), (20, 10), (30, 20))
    return of_chapter(
        "paper004-fig13",
        "ESKDB of 1, 10, 20 and 30 members (paper 004, Fig. 13)",
        versus=tuple(Versus(f"{more} members vs {fewer}", names[more], names[fewer], {}) for more, fewer in steps),
        averages=tuple(Average(f"{n} member{'' if n == 1 else 's'}", name, {}) for n, name in names.items()),
        picture="means",
    )


def _tyings() -> Experiment:
    def name(tying: str, prior: bool) -> str:
        tied = [] if tying == "level" else [f"smoothing__tying={tying}"]
        set_apart = [*tied, *([] if prior else ["smoothing__prior=none"])]
        return f"eskdb-hdp({','.join(set_apart)})" if set_apart else "eskdb-hdp"

    return of_chapter(
        "paper004-fig14",
        "ESKDB with HDP: four tyings of concentrations, with and without their prior (paper 004, Fig. 14)",
        measures=("rmse",),
        versus=(
            *(Versus(f"{t}: Gamma(2, 1) vs no prior", name(t, True), name(t, False), {}) for t in TYINGS),
            *(Versus(f"Gamma(2, 1): level vs {t}", name("level", True), name(t, True), {}) for t in TYINGS[1:]),
        ),
        averages=tuple(
            Average(f"{t}, {'Gamma(2, 1)' if prior else 'no prior'}", name(t, prior), {})
            for t in TYINGS
            for prior in (True, False)
        ),
        picture="means",
        differs=VB,
    )


def _hdp_and_rivals() -> list[Experiment]:
    rivals = {"RF": "rf", "XGBoost default": "xgboost", "XGBoost tuned": "xgboost-tuned"}
    table9 = {
        ("m", "RF"): wdl("30-2-40", "40-0-32"),
        ("m", "XGBoost default"): wdl("30-3-39", "38-1-33"),
        ("m", "XGBoost tuned"): wdl("26-2-44", "27-0-45"),
        ("hdp", "RF"): wdl("36-2-34", "42-0-30"),
        ("hdp", "XGBoost default"): wdl("36-1-35", "44-0-28"),
        ("hdp", "XGBoost tuned"): wdl("29-2-41", "33-1-38"),
    }
    table8 = (
        Average("RF", "rf", mean(0.2314, 0.1563)),
        Average("XGBoost default", "xgboost", mean(0.2288, 0.1565)),
        Average("ESKDB m", "eskdb-m", mean(0.2252, 0.1559)),
        Average("ESKDB HDP", "eskdb-hdp", mean(0.2227, 0.1536)),
        Average("XGBoost tuned", "xgboost-tuned", mean(0.2179, 0.1496)),
    )
    return [
        of_chapter(
            "paper004-table6",
            "ESKDB with HDP against m-estimates (paper 004, Table 6)",
            versus=(Versus("ESKDB HDP vs m", "eskdb-hdp", "eskdb-m", wdl("38-7-27", "48-1-23")),),
            picture="scatter",
            differs=VB,
        ),
        of_chapter(
            "paper004-table8",
            "Means of ESKDB, random forest and XGBoost (paper 004, Table 8)",
            averages=table8,
            picture="means",
            differs=VB,
        ),
        of_chapter(
            "paper004-table9",
            "ESKDB against random forest and XGBoost (paper 004, Table 9)",
            versus=tuple(
                Versus(f"ESKDB-{s} vs {r}", f"eskdb-{s}", rivals[r], paper) for (s, r), paper in table9.items()
            ),
            picture="scatter",
            differs=VB,
        ),
    ]
