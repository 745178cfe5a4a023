"""Scores of class probabilities and protocols that compare models by them."""

from countwise.evaluate.folds import stratified_folds
from countwise.evaluate.protocol import cross_validate
from countwise.evaluate.results import Results
from countwise.evaluate.scores import (
    SCORES,
    brier,
    ece,
    log_loss,
    rmse,
    rmse_true,
    score_all,
    zero_one_loss,
)

__all__ = [
    "SCORES",
    "Results",
    "brier",
    "cross_validate",
    "ece",
    "log_loss",
    "rmse",
    "rmse_true",
    "score_all",
    "stratified_folds",
    "zero_one_loss",
]
