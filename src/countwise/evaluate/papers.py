"""What the papers printed, and the models, data sets and protocols with which to compare.

Wins-draws-losses are typed off the papers' tables. Models that are not there yet are named as they will be called.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

from countwise.evaluate.experiments import Average, Experiment, Line, Versus
from countwise.evaluate.protocols import RepeatedFolds, TrainSizes

NETWORKS: Final = {
    "NB": "nb",
    "TAN": "tan",
    **{f"kDB-{k}": f"kdb{k}" for k in range(1, 6)},
    "SkDB": "skdb5",
}
paper000: Final = partial(Experiment, sets="petitjean68", n_sets=68)
paper004: Final = partial(
    Experiment, sets="eskdb72", n_sets=72, tail="greater", protocol=RepeatedFolds(once_above=100_000)
)
VB: Final = "HDP by variational inference; the paper sampled, 50,000 Gibbs sweeps. 5x2 folds are stratified."
trees: Final = partial(Experiment, sets="hgs143", n_sets=143, protocol=RepeatedFolds(1, 10))


def _wdl(zero_one: str, rmse: str) -> dict[str, str]:
    return {"zero_one_loss": zero_one, "rmse": rmse}


def _mean(rmse: float, zero_one: float) -> dict[str, float]:
    return {"zero_one_loss": zero_one, "rmse": rmse}


def _paper000() -> list[Experiment]:
    printed = {
        "NB": _wdl("41-4-23", "40-0-28"),
        "TAN": _wdl("45-4-19", "52-1-15"),
        "kDB-1": _wdl("45-4-19", "50-1-17"),
        "kDB-2": _wdl("54-2-12", "54-0-14"),
        "kDB-3": _wdl("52-4-12", "53-2-13"),
        "kDB-4": _wdl("56-4-8", "56-0-12"),
        "kDB-5": _wdl("60-4-4", "60-2-6"),
        "SkDB": _wdl("45-4-19", "54-0-14"),
    }
    table4 = tuple(Versus(label, f"{m}-hdp", f"{m}-m", printed[label]) for label, m in NETWORKS.items())
    table5 = (
        Versus("TAN-m vs RF", "tan-m", "rf-coded", _wdl("26-3-39", "25-0-43")),
        Versus("SkDB-m vs RF", "skdb5-m", "rf-coded", _wdl("27-3-38", "29-1-38")),
        Versus("TAN-HDP vs RF", "tan-hdp", "rf-coded", _wdl("42-3-23", "42-0-26")),
        Versus("SkDB-HDP vs RF", "skdb5-hdp", "rf-coded", _wdl("35-3-30", "44-0-24")),
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
        paper000(
            "paper000-table4",
            "HDP against m-estimates in eight networks (paper 000, Table 4)",
            versus=table4,
            differs=VB,
            picture="scatter",
        ),
        paper000(
            "paper000-table5",
            "Networks against random forest on the same bins (paper 000, Table 5)",
            versus=table5,
            differs=f"{VB} {rf}",
            picture="scatter",
        ),
        paper000(
            "paper000-fig4",
            "Fewer sweeps of the sampler against 50,000 (paper 000, Fig. 4)",
            lines=fig4,
            measures=("rmse",),
            picture="win-loss",
        ),
        paper000(
            "paper000-fig5",
            "Tying of concentrations: single and same parent against level (paper 000, Fig. 5)",
            lines=fig5,
            measures=("rmse",),
            picture="win-loss",
        ),
        paper000(
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
        paper000(
            "paper000-fig8",
            "SkDB with HDP against random forest on the same bins (paper 000, Fig. 8)",
            versus=(Versus("SkDB-HDP vs RF", "skdb5-hdp", "rf-coded", {"zero_one_loss": "35-3-30"}),),
            measures=("zero_one_loss",),
            picture="scatter",
            differs=f"{VB} {rf}",
        ),
    ]


def _paper001() -> list[Experiment]:
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


def _paper003() -> list[Experiment]:
    pairs = tuple(Versus(f"hierarchical vs BDeu s={s}", "tan-dirichlet@all", f"tan-bdeu{s}@all", {}) for s in (1, 10))
    differs = (
        "Values that a training set does not hold are left out of a prediction, where the paper's tables list all "
        "values of the whole set. Training sets of one size are nested in those of the next."
    )
    paper003 = partial(
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
        paper003("paper003-fig7", f"{title} accuracy (paper 003, Fig. 7)", measures=("zero_one_loss",)),
        paper003("paper003-fig8", f"{title} area under the ROC (paper 003, Fig. 8)", measures=("roc_auc",)),
    ]


def _paper004() -> list[Experiment]:
    rivals = {"RF": "rf", "XGBoost default": "xgboost", "XGBoost tuned": "xgboost-tuned"}
    others = {"NB": "nb-m", "TAN": "tan-m", "KDB": "kdb5-m", "KDF": "kdf-m", "AODE": "aode-m", "SKDB": "skdb5-m"}
    table5 = {
        "NB": _wdl("60-1-11", "63-0-9"),
        "TAN": _wdl("57-2-13", "64-0-8"),
        "KDB": _wdl("61-2-9", "64-0-8"),
        "KDF": _wdl("67-2-3", "71-0-1"),
        "AODE": _wdl("60-0-12", "62-1-9"),
        "SKDB": _wdl("59-3-10", "60-0-12"),
    }
    table9 = {
        ("m", "RF"): _wdl("30-2-40", "40-0-32"),
        ("m", "XGBoost default"): _wdl("30-3-39", "38-1-33"),
        ("m", "XGBoost tuned"): _wdl("26-2-44", "27-0-45"),
        ("hdp", "RF"): _wdl("36-2-34", "42-0-30"),
        ("hdp", "XGBoost default"): _wdl("36-1-35", "44-0-28"),
        ("hdp", "XGBoost tuned"): _wdl("29-2-41", "33-1-38"),
    }
    versus5 = tuple(Versus(f"ESKDB vs {label}", "eskdb-m", others[label], paper) for label, paper in table5.items())
    versus6 = (Versus("ESKDB HDP vs m", "eskdb-hdp", "eskdb-m", _wdl("38-7-27", "48-1-23")),)
    versus9 = tuple(Versus(f"ESKDB-{s} vs {r}", f"eskdb-{s}", rivals[r], paper) for (s, r), paper in table9.items())
    averages8 = (
        Average("RF", "rf", _mean(0.2314, 0.1563)),
        Average("XGBoost default", "xgboost", _mean(0.2288, 0.1565)),
        Average("ESKDB m", "eskdb-m", _mean(0.2252, 0.1559)),
        Average("ESKDB HDP", "eskdb-hdp", _mean(0.2227, 0.1536)),
        Average("XGBoost tuned", "xgboost-tuned", _mean(0.2179, 0.1496)),
    )
    return [
        paper004(
            "paper004-table5",
            "ESKDB against other networks (paper 004, Table 5)",
            versus=versus5,
            picture="means",
        ),
        paper004(
            "paper004-table6",
            "ESKDB with HDP against m-estimates (paper 004, Table 6)",
            versus=versus6,
            picture="scatter",
        ),
        paper004(
            "paper004-table8",
            "Means of ESKDB, random forest and XGBoost (paper 004, Table 8)",
            averages=averages8,
            picture="means",
        ),
        paper004(
            "paper004-table9",
            "ESKDB against random forest and XGBoost (paper 004, Table 9)",
            versus=versus9,
            picture="scatter",
        ),
    ]


def _paper004_trees() -> list[Experiment]:
    printed = {
        "MLE": ("c45-mle", _mean(0.2596, 0.2093), _wdl("69-22-52", "108-2-33")),
        "Laplace": ("c45-laplace", _mean(0.2499, 0.2093), _wdl("68-22-53", "111-4-28")),
        "M-estimation": ("c45-m", _mean(0.2485, 0.2068), _wdl("66-23-54", "98-4-41")),
        "M-branch": ("c45-mbranch", _mean(0.2428, 0.2062), _wdl("59-32-52", "96-3-44")),
        "HDP": ("c45-gibbs", _mean(0.2436, 0.2078), _wdl("64-21-58", "92-1-50")),
    }
    hgs = Average("HGS", "c45-hgs", _mean(0.2410, 0.2059))
    tables = {16: ("MLE", "Laplace", "M-estimation"), 18: ("M-branch", "HDP")}
    found = []
    for number, rivals in tables.items():
        versus = tuple(Versus(f"HGS vs {r}", "c45-hgs", printed[r][0], printed[r][2]) for r in rivals)
        averages = (*(Average(r, *printed[r][:2]) for r in rivals), hgs)
        title = f"HGS against {', '.join(rivals)} in C4.5 trees (paper 004, Table"
        found += [
            trees(
                f"paper004-table{number}",
                f"{title} {number})",
                versus=versus,
                picture="scatter",
            ),
            trees(
                f"paper004-table{number + 1}",
                f"{title} {number + 1})",
                averages=averages,
                picture="means",
            ),
        ]
    return found


NETWORKS_EXPERIMENT: Final = Experiment(
    "networks",
    "Eight networks with m-estimates, HDP and tuned HDP beside random forest and XGBoost",
    "zaidi72",
    RepeatedFolds(once_above=10_000),
    measures=("rmse", "zero_one_loss", "log_loss"),
    versus=tuple(
        Versus(f"{label} tuned vs {rival}", f"{NETWORKS[label]}-tuned", rival, {})
        for label in ("TAN", "kDB-5", "SkDB")
        for rival in ("rf", "xgboost")
    ),
    others=(*(f"{m}-{s}" for m in NETWORKS.values() for s in ("m", "hdp", "tuned")), "rf", "rf-coded", "xgboost"),
    picture="means",
)
DEFAULT_EXPERIMENT: Final = Experiment(
    "default", "A look at four networks and a forest", "all", others=("nb", "tan", "kdb2", "skdb5", "rf")
)
SMOOTHERS_EXPERIMENT: Final = Experiment(
    "smoothers",
    "Every network with every smoother, on 35 sets of up to 4,177 rows",
    (
        *("abalone", "annealing", "autos", "balance-scale", "breast-cancer-w", "bupa", "car", "chess", "cleveland"),
        *("cmc", "credit-approval", "dermatology", "echocardiogram", "glass", "haberman", "hepatitis"),
        *("house-votes-84", "hungarian", "ionosphere", "iris", "kr-vs-kp", "led", "lymphography", "new-thyroid"),
        *("pima", "post-operative", "segment", "sick", "sonar", "tae", "tic-tac-toe", "vehicle", "volcanoes"),
        *("wine", "yeast"),
    ),
    measures=("rmse", "zero_one_loss", "log_loss"),
    versus=tuple(
        Versus(f"{label} {smoother} vs m", f"{network}-{smoother}", f"{network}-m", {})
        for label, network in NETWORKS.items()
        for smoother in ("tuned", "hdp", "gibbs", "dirichlet", "hls", "mbranch", "bdeu1", "bdeu10")
    ),
    picture="means",
)

EXPERIMENTS: Final[Mapping[str, Experiment]] = {
    one.name: one
    for one in (
        NETWORKS_EXPERIMENT,
        SMOOTHERS_EXPERIMENT,
        *_paper000(),
        *_paper001(),
        *_paper003(),
        *_paper004(),
        *_paper004_trees(),
    )
}
