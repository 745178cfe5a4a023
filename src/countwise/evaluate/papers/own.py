"""Our own experiments: every network, every smoother, one tree beside forests, the pool beside its rivals."""

from typing import Final

from countwise.evaluate.experiments import Experiment, Versus
from countwise.evaluate.papers.networks import NETWORKS
from countwise.evaluate.papers.trees import FORESTS, HGS
from countwise.evaluate.protocols import RepeatedFolds

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

EVIDENCE: Final = "Settings of ours were chosen on the development sets: only the confirmation sets are evidence."
SOFT: Final = f"{HGS}(thresholds=soft)"  # the library's tree
TREES_EXPERIMENT: Final = Experiment(
    "trees",
    "One tree with HGS and soft thresholds beside sharp ones, and beside forests",
    "hgs143",
    RepeatedFolds(1, 10),
    measures=("rmse", "log_loss", "zero_one_loss"),
    versus=(
        Versus("soft vs sharp thresholds", SOFT, HGS, {}),
        *(Versus(f"soft tree vs {n} trees", SOFT, forest, {}) for n, forest in FORESTS.items()),
        *(Versus(f"sharp tree vs {n} trees", HGS, forest, {}) for n, forest in FORESTS.items()),
        Versus(
            "forest of HDP: soft vs sharp",
            "forest-hdp(n_estimators=10,thresholds=soft)",
            "forest-hdp(n_estimators=10)",
            {},
        ),
    ),
    others=(f"{HGS}(thresholds=soft,category_splits=binary)",),
    picture="means",
    differs=EVIDENCE,
)

OURS: Final = ("pool", "tuned", "eskdb-hdp")
RIVALS: Final = ("rf", "xgboost", "xgboost-tuned", "lightgbm", "catboost", "ebm", "hgb")
POOL_EXPERIMENT: Final = Experiment(
    "pool",
    "The pool, one tuned network and ESKDB beside forests and boosters, on every set of a folder",
    "all",
    RepeatedFolds(1, 2),
    measures=("log_loss", "rmse", "brier", "zero_one_loss", "ece", "fit_seconds"),
    versus=(
        *(Versus(f"{own} vs {rival}", own, rival, {}) for own in OURS for rival in RIVALS),
        *(Versus(f"pool vs {other}", "pool", other, {}) for other in OURS[1:]),
    ),
    picture="means",
    differs=EVIDENCE,
)
