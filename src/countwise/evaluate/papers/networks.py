"""Experiments on single networks: papers 000, 001 and 003."""

from functools import partial
from typing import Final

from countwise.evaluate.experiments import Experiment, Line, Versus
from countwise.evaluate.papers.printed import wdl
from countwise.evaluate.protocols import TrainSizes

NETWORKS: Final = {
    "NB": "nb",
    "TAN": "tan",
    **{f"kDB-{k}": f"kdb{k}" for k in range(1, 6)},
    "SkDB": "skdb5",
}
of_paper000: Final = partial(Experiment, sets="petitjean68", n_sets=68)
VB: Final = "HDP by variational inference; the paper sampled, 50,000 Gibbs sweeps. 5x2 folds are stratified."


def paper000() -> list[Experiment]:
    """Petitjean et al. 2018: HDP in single networks."""
    printed = {
        "NB": wdl("41-4-23", "40-0-28"),
        "TAN": wdl("45-4-19", "52-1-15"),
        "kDB-1": wdl("45-4-19", "50-1-17"),
        "kDB-2": wdl("54-2-12", "54-0-14"),
        "kDB-3": wdl("52-4-12", "53-2-13"),
        "kDB-4": wdl("56-4-8", "56-0-12"),
        "kDB-5": wdl("60-4-4", "60-2-6"),
        "SkDB": wdl("45-4-19", "54-0-14"),
    }
    table4 = tuple(Versus(label, f"{m}-hdp", f"{m}-m", printed[label]) for label, m in NETWORKS.items())
    table5 = (
        Versus("TAN-m vs RF", "tan-m", "rf-coded", wdl("26-3-39", "25-0-43")),
        Versus("SkDB-m vs RF", "skdb5-m", "rf-coded", wdl("27-3-38", "29-1-38")),
        Versus("TAN-HDP vs RF", "tan-hdp", "rf-coded", wdl("42-3-23", "42-0-26")),
        Versus("SkDB-HDP vs RF", "skdb5-hdp", "rf-coded", wdl("35-3-30", "44-0-24")),
    )
    iterations, most = (500, 1000, 5000), 50_000
    tyings = {"single": "S", "level": "L", "parent": "SP"}

    def sampled(network: str, tying: str, n_iter: int) -> str:
        return f"{network}-gibbs(smoothing__tying={tying},smoothing__n_iter={n_iter},smoothing__burn_in={n_iter // 10})"

    flagships = {"TAN": "tan", "SkDB": "skdb5"}
    fig4 = tuple(
        Line(f"{label} {short}", tuple((str(n), sampled(net, t, n), sampled(net, t, most)) for n in iterations))
        for label, net in flagships.items()
        for t, short in tyings.items()
    )
    fig5 = tuple(
        Line(
            f"{label} {short}",
            tuple((str(n), sampled(net, t, n), sampled(net, "level", n)) for n in (*iterations, most)),
        )
        for label, net in flagships.items()
        for t, short in tyings.items()
        if t != "level"
    )
    weaker = ("nb", *(f"kdb{k}" for k in range(1, 5)))
    fig6 = tuple(
        Line(label, tuple((name, f"kdb5-{s}", f"{name}-{s}") for name in weaker))
        for label, s in {"m-estimate": "m", "HDP": "hdp", "HDP, tuned (not in the paper)": "tuned"}.items()
    )
    curves = tuple(f"{net}-{s}" for net in flagships.values() for s in ("m", "hdp"))
    rf = "RF of scikit-learn, one-hot categories; the paper's was Weka's."
    return [
        of_paper000(
            "paper000-table4",
            "HDP against m-estimates in eight networks (paper 000, Table 4)",
            versus=table4,
            differs=VB,
            picture="scatter",
        ),
        of_paper000(
            "paper000-table5",
            "Networks against random forest on the same bins (paper 000, Table 5)",
            versus=table5,
            differs=f"{VB} {rf}",
            picture="scatter",
        ),
        of_paper000(
            "paper000-fig4",
            "Fewer sweeps of the sampler against 50,000 (paper 000, Fig. 4)",
            lines=fig4,
            measures=("rmse",),
            picture="win-loss",
        ),
        of_paper000(
            "paper000-fig5",
            "Tying of concentrations: single and same parent against level (paper 000, Fig. 5)",
            lines=fig5,
            measures=("rmse",),
            picture="win-loss",
        ),
        of_paper000(
            "paper000-fig6",
            "kDB-5 against simpler kDBs (paper 000, Fig. 6)",
            lines=fig6,
            measures=("rmse",),
            picture="win-loss",
            differs=VB,
        ),
        Experiment(
            "paper000-fig7",
            "Learning curves of TAN and SkDB (paper 000, Fig. 7)",
            ("adult", "connect-4", "magic", "letter"),
            TrainSizes(sizes=None),
            others=curves,
            measures=("rmse",),
            picture="curves",
            differs=f"{VB} Sizes are doubled from 32 rows to two thirds of the set; the last third tests.",
        ),
        of_paper000(
            "paper000-fig8",
            "SkDB with HDP against random forest on the same bins (paper 000, Fig. 8)",
            versus=(Versus("SkDB-HDP vs RF", "skdb5-hdp", "rf-coded", {"zero_one_loss": "35-3-30"}),),
            measures=("zero_one_loss",),
            picture="scatter",
            differs=f"{VB} {rf}",
        ),
    ]


def paper001() -> list[Experiment]:
    """Zaidi et al. 2017: discriminative parameters."""
    table4 = (
        Versus(
            "NBw vs NB",
            "wnb",
            "nb-m",
            {"bias": "62-3-7", "variance": "19-3-50", "zero_one_loss": "45-4-23", "rmse": "45-3-24"},
        ),
        Versus(
            "TANw vs TAN",
            "wtan",
            "tan-m",
            {"bias": "50-4-18", "variance": "21-2-49", "zero_one_loss": "34-3-35", "rmse": "25-1-46"},
        ),
        Versus(
            "KDB-1w vs KDB-1",
            "wkdb1",
            "kdb1-m",
            {"bias": "54-5-13", "variance": "19-4-49", "zero_one_loss": "39-4-29", "rmse": "29-2-41"},
        ),
    )
    return [
        Experiment(
            "paper001-table4",
            "Discriminative against generative parameters (paper 001, Table 4)",
            "zaidi72",
            measures=("bias", "variance", "zero_one_loss", "rmse"),
            versus=table4,
            n_sets=72,
        )
    ]


def paper003() -> list[Experiment]:
    """Azzimonti et al. 2019: hierarchical Dirichlet against BDeu."""
    pairs = tuple(Versus(f"hierarchical vs BDeu s={s}", "tan-dirichlet@all", f"tan-bdeu{s}@all", {}) for s in (1, 10))
    differs = (
        "Values that a training set does not hold are left out of a prediction, where the paper's tables list all "
        "values of the whole set. Training sets of one size are nested in those of the next."
    )
    of_paper003 = partial(
        Experiment,
        sets="azzimonti57",
        protocol=TrainSizes(),
        prepare="imputed-quintiles",
        versus=pairs,
        n_sets=57,
        picture="differences",
        differs=differs,
    )
    title = "Hierarchical Dirichlet against BDeu in TAN:"
    return [
        of_paper003("paper003-fig7", f"{title} accuracy (paper 003, Fig. 7)", measures=("zero_one_loss",)),
        of_paper003("paper003-fig8", f"{title} area under the ROC (paper 003, Fig. 8)", measures=("roc_auc",)),
    ]
