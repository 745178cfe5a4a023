"""The smallest ensembles: kDBs with equal-frequency bins, and what they should predict, from networks of their own."""

from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

import countwise as cw
from countwise.data.coarse import joined_codec
from countwise.estimators.ensemble import EnsembleClassifier, LearnedEnsemble
from countwise.estimators.learn import learn
from countwise.infer.members import NetworkMember


class Bag(EnsembleClassifier):
    """One kDB for each number of bins, with k = 0, 1, 2, 0, ...; ``groups`` and ``weights`` as given."""

    def __init__(self, bins=(2, 3), groups=None, weights=None, **shared):
        super().__init__(**shared)
        self.bins = bins
        self.groups = groups
        self.weights = weights

    def _learn_members(self, source, labels, plan):
        found = [
            learn(cw.KDBClassifier(k=m % 3), source, labels, replace(plan, discretiser=cw.EqualFrequency(n_bins=n)))
            for m, n in enumerate(self.bins)
        ]
        groups = range(len(found)) if self.groups is None else self.groups
        weights = [1.0] * len(found) if self.weights is None else self.weights
        members = [
            NetworkMember(one.codec, one.trees, one.structure, group=group, weight=weight)
            for one, group, weight in zip(found, groups, weights, strict=True)
        ]
        passes = sum(one.data.n_passes for one in found)
        codec = joined_codec([one.codec for one in found])
        return LearnedEnsemble(
            codec, members, found[0].class_counts, found[0].data.row_weight, passes, found[0].rank_error
        )


class JointBag(Bag):
    """Joint probabilities averaged."""

    _combine = "joint"


class MaskedBag(JointBag):
    """A row whose first code is even leaves the first member out; one whose first code is 1 leaves out all."""

    def _log_weight(self):
        def of_rows(batch):
            first = batch.codes[0].astype(int)
            weight = np.zeros((batch.n_rows, len(self.members_)))
            weight[first % 2 == 0, 0] = -np.inf
            weight[first == 1] = -np.inf
            weight[first == 3, -1] = np.log(0.25)
            return weight

        return of_rows


def single_models(bag, X, y):
    """Each member as a classifier of its own."""
    return [
        cw.KDBClassifier(
            k=m % 3, discretiser=cw.EqualFrequency(n_bins=n), tune=None, smoothing=bag.smoothing, random_state=0
        ).fit(X, y)
        for m, n in enumerate(bag.bins)
    ]


def log_joints(models, X):
    """Members x rows x classes: log P(x, y)."""
    return np.stack([model.predict_log_proba(X) + model.log_likelihood(X)[:, None] for model in models])


def group_mixture(log_proba, groups, weights):
    """Sum over groups of weight times the normalised geometric mean: from members x rows x classes."""
    groups, weights = np.asarray(groups), np.asarray(weights, float)
    total = 0.0
    for group in np.unique(groups):
        own = weights * (groups == group)
        mean = np.tensordot(own / own.sum(), log_proba, axes=1)
        total = total + own.sum() / weights.sum() * np.exp(mean - logsumexp(mean, axis=1, keepdims=True))
    return total
