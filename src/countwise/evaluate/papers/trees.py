"""Experiments on decision trees: paper 004, chapter 5."""

from functools import partial
from typing import Final

from countwise.evaluate.experiments import Average, Experiment, Line, Versus
from countwise.evaluate.papers.printed import mean, wdl
from countwise.evaluate.protocols import RepeatedFolds

of_chapter: Final = partial(Experiment, sets="hgs143", n_sets=143, protocol=RepeatedFolds(1, 10), tail="greater")
VB: Final = "HDP by variational inference; the paper sampled, 1,000 Gibbs sweeps."
OURS: Final = "HGS with converged, penalised weights; 'as published' stops after a step, which leaves them near 1."
# Frequencies as they are: "-mle" backs off for values that a node has not met, which costs a pure leaf its certainty.
MLE: Final = "c45-m(smoothing__m=1e-6)"
HGS: Final = "c45-hgs"
PUBLISHED: Final = "c45-hgs(smoothing__solver=gd)"
PRUNED: Final = "c45-m(smoothing__m=1e-6,pruning=reduced-error)"
HDP: Final = "c45-hdp(smoothing__tying=single)"  # the tying that the paper settled on
SAMPLED: Final = "c45-gibbs(smoothing__tying=single)"
VALIDATED: Final = "c45-m(smoothing__m=1e-6,validation=true)"
FOREST_SIZES: Final = (1, 3, 5, 7, 10, 20, 30)
FORESTS: Final = {n: f"forest-m(n_estimators={n},smoothing__m=1e-6)" for n in FOREST_SIZES}

# Label: model, means of Tables 17 and 19, HGS against it (Tables 16 and 18), it against pruning (Table 21).
SMOOTHED: Final = {
    "MLE": (MLE, mean(0.2596, 0.2093), wdl("69-22-52", "108-2-33"), wdl("84-11-48", "70-4-69")),
    "Laplace": ("c45-laplace", mean(0.2499, 0.2093), wdl("68-22-53", "111-4-28"), wdl("84-11-48", "92-1-50")),
    "M-estimation": ("c45-m", mean(0.2485, 0.2068), wdl("66-23-54", "98-4-41"), wdl("84-11-48", "92-2-49")),
    "M-branch": ("c45-mbranch", mean(0.2428, 0.2062), wdl("59-32-52", "96-3-44"), wdl("92-11-40", "120-1-22")),
    "HDP": (HDP, mean(0.2436, 0.2078), wdl("64-21-58", "92-1-50"), wdl("84-9-50", "93-2-48")),
}
HGS_MEAN: Final = mean(0.2410, 0.2059)


def paper004_trees() -> list[Experiment]:
    """Zhang 2020, chapter 5: hierarchical gradient smoothing."""
    return [*_hdp(), *_smoothers(), _validation(), _pruning(), *_hierarchical(), _forests()]


def _hdp() -> list[Experiment]:
    printed = {
        "single": mean(0.2436, 0.2078),
        "level": mean(0.2493, 0.2087),
        "parent": mean(0.2525, 0.2090),
        "node": mean(0.2533, 0.2091),
    }
    longer = "c45-gibbs(smoothing__tying=single,smoothing__n_iter=5000)"
    return [
        of_chapter(
            "paper004-table14",
            "HDP in C4.5 trees: four tyings of concentrations (paper 004, Table 14)",
            averages=tuple(Average(t, f"c45-hdp(smoothing__tying={t})", paper) for t, paper in printed.items()),
            picture="means",
            differs=VB,
        ),
        of_chapter(
            "paper004-table15",
            "HDP in C4.5 trees: 1,000 and 5,000 Gibbs sweeps (paper 004, Table 15)",
            averages=(
                Average("1,000 sweeps", SAMPLED, mean(0.2436, 0.2078)),
                Average("5,000 sweeps", longer, mean(0.2450, 0.2074)),
                Average("variational", HDP, {}),
            ),
            picture="means",
        ),
    ]


def _smoothers() -> list[Experiment]:
    tables = {16: ("MLE", "Laplace", "M-estimation"), 18: ("M-branch", "HDP")}
    found = []
    for number, rivals in tables.items():
        title = f"HGS against {', '.join(rivals)} in C4.5 trees (paper 004, Table"
        found += [
            of_chapter(
                f"paper004-table{number}",
                f"{title} {number})",
                versus=(
                    *(Versus(f"HGS vs {r}", HGS, SMOOTHED[r][0], SMOOTHED[r][2]) for r in rivals),
                    *(Versus(f"HGS as published vs {r}", PUBLISHED, SMOOTHED[r][0], {}) for r in rivals),
                    Versus("HGS vs HGS as published", HGS, PUBLISHED, {}),
                ),
                picture="scatter",
                differs=f"{OURS} {VB}",
            ),
            of_chapter(
                f"paper004-table{number + 1}",
                f"{title} {number + 1})",
                averages=(
                    *(Average(r, *SMOOTHED[r][:2]) for r in rivals),
                    Average("HGS", HGS, HGS_MEAN),
                    Average("HGS as published", PUBLISHED, {}),
                ),
                picture="means",
                differs=f"{OURS} {VB}",
            ),
        ]
    return found


def _validation() -> Experiment:
    return of_chapter(
        "paper004-table20",
        "HGS against frequencies of held-out rows (paper 004, Table 20)",
        versus=(Versus("HGS vs validation", HGS, VALIDATED, {}),),
        averages=(Average("Validation", VALIDATED, mean(0.2653, 0.2353)), Average("HGS", HGS, HGS_MEAN)),
        picture="means",
        differs=OURS,
    )


def _pruning() -> Experiment:
    lines = {**{label: (own[0], own[3]) for label, own in SMOOTHED.items()}, "HGS": (HGS, wdl("95-12-36", "123-1-19"))}
    return of_chapter(
        "paper004-table21",
        "Smoothing against reduced-error pruning (paper 004, Table 21)",
        versus=tuple(Versus(f"{label} vs pruning", model, PRUNED, paper) for label, (model, paper) in lines.items()),
        averages=(Average("Pruning", PRUNED, {}), *(Average(label, model, {}) for label, (model, _) in lines.items())),
        picture="means",
        differs=f"{OURS} {VB}",
    )


def _hierarchical() -> list[Experiment]:
    return [
        of_chapter(
            "paper004-fig23",
            "HDP against M-branch in C4.5 trees (paper 004, Fig. 23)",
            versus=(Versus("HDP vs M-branch", HDP, "c45-mbranch", {}),),
            picture="scatter",
            differs=VB,
        ),
        of_chapter(
            "paper004-fig24",
            "HGS against M-branch and HDP, by the size of the data sets (paper 004, Fig. 24)",
            measures=("rmse",),
            versus=(Versus("HGS vs M-branch", HGS, "c45-mbranch", {}), Versus("HGS vs HDP", HGS, HDP, {})),
            picture="differences",
            differs=f"{OURS} {VB}",
        ),
        of_chapter(
            "paper004-fig25",
            "Time to fit with HGS and with HDP, by the size of the data sets (paper 004, Fig. 25)",
            measures=("fit_seconds",),
            averages=(
                Average("HGS", HGS, {}),
                Average("HDP, 1,000 sweeps", SAMPLED, {}),
                Average("HDP, variational", HDP, {}),
            ),
            picture="times",
        ),
    ]


def _forests() -> Experiment:
    smoothed = {n: f"forest-hgs(n_estimators={n})" for n in FOREST_SIZES}
    return of_chapter(
        "paper004-fig26",
        "One tree with HGS against forests of 1 to 30 trees, with and without HGS (paper 004, Fig. 26)",
        versus=tuple(Versus(f"HGS tree vs {n} trees", HGS, FORESTS[n], {}) for n in FOREST_SIZES),
        averages=(
            Average("one tree, HGS", HGS, HGS_MEAN),
            *(Average(f"{n} trees", FORESTS[n], {}) for n in FOREST_SIZES),
            *(Average(f"{n} trees, HGS", smoothed[n], {}) for n in FOREST_SIZES),
        ),
        lines=(Line("HGS in forests", tuple((str(n), smoothed[n], FORESTS[n]) for n in FOREST_SIZES)),),
        picture="means",
        differs=OURS,
    )
