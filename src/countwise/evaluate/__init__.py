"""Scores of class probabilities and protocols that compare models by them."""

from countwise.evaluate.bias_variance import BiasVariance, bias_variance, pack_codes, unpack_codes
from countwise.evaluate.costs import CostCurve, cost_curve, mean_cost
from countwise.evaluate.folds import stratified_folds
from countwise.evaluate.measures import MEASURES, Measure, measure_of, pool
from countwise.evaluate.models import make_model, make_models
from countwise.evaluate.pairs import (
    BayesianSignTest,
    WinDrawLoss,
    bayesian_sign_test,
    geometric_mean_ratio,
    wilcoxon,
    win_draw_loss,
)
from countwise.evaluate.protocols import RepeatedFolds, TrainSizes
from countwise.evaluate.ranks import Friedman, Nemenyi, friedman, nemenyi
from countwise.evaluate.reliability import ReliabilityBins
from countwise.evaluate.results import Results, ScoreTable
from countwise.evaluate.run import benchmark, cross_validate
from countwise.evaluate.scores import (
    SCORES,
    brier,
    ece,
    ece_classwise,
    log_loss,
    reliability_bins,
    rmse,
    rmse_true,
    roc_auc,
    score_all,
    zero_one_loss,
)
from countwise.evaluate.truth import cross_entropy, kl_divergence, table_hellinger, table_kl, table_mse

__all__ = [
    "MEASURES",
    "SCORES",
    "BayesianSignTest",
    "BiasVariance",
    "CostCurve",
    "Friedman",
    "Measure",
    "Nemenyi",
    "ReliabilityBins",
    "RepeatedFolds",
    "Results",
    "ScoreTable",
    "TrainSizes",
    "WinDrawLoss",
    "bayesian_sign_test",
    "benchmark",
    "bias_variance",
    "brier",
    "cost_curve",
    "cross_entropy",
    "cross_validate",
    "ece",
    "ece_classwise",
    "friedman",
    "geometric_mean_ratio",
    "kl_divergence",
    "log_loss",
    "make_model",
    "make_models",
    "mean_cost",
    "measure_of",
    "nemenyi",
    "pack_codes",
    "pool",
    "reliability_bins",
    "rmse",
    "rmse_true",
    "roc_auc",
    "score_all",
    "stratified_folds",
    "table_hellinger",
    "table_kl",
    "table_mse",
    "unpack_codes",
    "wilcoxon",
    "win_draw_loss",
    "zero_one_loss",
]
