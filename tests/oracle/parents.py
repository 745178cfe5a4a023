"""Searches for parents, row by row: a row that is left out is taken out of the table, and the rest is counted again."""

import numpy as np
from scipy.optimize import minimize_scalar

STRENGTH, ROOT = 5.0, 2.0


def weights_of(table):
    return np.ones(table.n_rows) if table.weights is None else table.weights


def estimate(table, weights, child, parents, r, y):
    """P(the child's value in row r | y, the parents' values in row r), each context pulled to the one above it."""
    same_value, here = table.X[:, child] == table.X[r, child], np.ones(table.n_rows, bool)
    p = (weights[same_value].sum() + ROOT / table.arity[child]) / (weights.sum() + ROOT)
    here &= table.y == y
    for parent in (None, *parents):
        if parent is not None:
            here &= table.X[:, parent] == table.X[r, parent]
        p = (weights[here & same_value].sum() + STRENGTH * p) / (weights[here].sum() + STRENGTH)
    return p


# Gain


def gain(table, child, parent):
    """The sum over the rows of log P(child | y, parent) - log P(child | y), without the row, at the best strength."""
    sums = np.zeros(4)
    for r in range(table.n_rows):
        weights, y = table.without(r), table.y[r]
        f = estimate(table, weights, child, (), r, y)
        here = (table.y == y) & (table.X[:, parent] == table.X[r, parent])
        n, total = weights[here & (table.X[:, child] == table.X[r, child])].sum(), weights[here].sum()
        for s, strength in enumerate((1, 4, 16, 64)):
            sums[s] += weights_of(table)[r] * np.log((n + strength * f) / (total + strength) / f)
    return sums.max()


def gain_parents(table, order, k):
    parents = [()] * len(order)
    for position, child in enumerate(order):
        gains = {j: gain(table, child, j) for j in order[:position]}
        ranked = sorted((j for j in gains if gains[j] > 0), key=lambda j: -gains[j])
        parents[child] = tuple(ranked[:k])
    return tuple(parents)


# Class


class ClassSearch:
    """The greedy search; ``sequence`` holds the attributes as they are visited, a list for each round."""

    def __init__(self, table, order, n_scored, first_rows=256, finalists=4, n_later=20, least_score=0.5):
        self.table, self.order, self.n_later, self.least_score = table, list(order), n_later, least_score
        self.first_rows, self.finalists = first_rows, finalists
        self.scored = range(min(n_scored, table.n_rows))
        self.weights = weights_of(table)[: len(self.scored)]
        self.target = table.y[: len(self.scored)]
        self.rest = [table.without(r) for r in self.scored]
        self.prior = np.array(
            [np.log(np.bincount(table.y, w, minlength=table.n_classes) + 1 / table.n_classes) for w in self.rest]
        )
        self.parents = dict.fromkeys(self.order, ())
        self.log_p = {child: self.estimates(child, (), self.scored) for child in self.order}

    def run(self, sequence):
        candidates = {child: self.order[:position] for position, child in enumerate(self.order)}
        for number, visited in enumerate(sequence):
            temperature = self.best_temperature()
            for child in visited:
                candidates[child] = self.extend(child, candidates[child], temperature, number == 0)
        return tuple(self.parents[child] for child in range(len(self.order)))

    def estimates(self, child, parents, scored):
        classes = range(self.table.n_classes)
        return np.log(
            [[estimate(self.table, self.rest[r], child, parents, r, y) for y in classes] for r in scored]
        ).reshape(-1, self.table.n_classes)

    def posterior(self, temperature):
        scores = self.prior + temperature * sum(self.log_p.values())
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def best_temperature(self):
        rows = np.arange(len(self.scored))

        def loss(log_t):
            own = self.posterior(np.exp(log_t))[rows, self.target]
            return 0.5 * log_t**2 - self.weights @ np.log(np.maximum(own, 1e-300))

        return np.exp(minimize_scalar(loss, bounds=(-4.0, 2.0), method="bounded", options={"xatol": 1e-7}).x)

    def score(self, child, candidate, posterior, n_rows):
        """G^2 / H on the first rows, 0 if G is not positive."""
        rows = np.arange(min(n_rows, len(self.scored)))
        after = self.estimates(child, (*self.parents[child], candidate), rows)
        delta, p, w = after - self.log_p[child][rows], posterior[rows], self.weights[rows]
        mean = (p * delta).sum(axis=1)
        g = w @ (delta[rows, self.target[rows]] - mean)
        h = w @ ((p * delta**2).sum(axis=1) - mean**2)
        return g**2 / h if g > 0 and h > 0 else 0.0

    def extend(self, child, candidates, temperature, first_round):
        """Take the best candidate if it is good enough; the candidates that are left for later rounds."""
        if not candidates:
            return []
        posterior = self.posterior(temperature)

        def ranked(some, n_rows):
            scores = {j: self.score(child, j, posterior, n_rows) for j in some}
            return sorted(some, key=lambda j: -scores[j]), scores

        others = []
        if len(candidates) > self.finalists and len(self.scored) > self.first_rows:
            order, _ = ranked(candidates, self.first_rows)
            candidates, others = order[: self.finalists], order[self.finalists :]
        candidates, scores = ranked(candidates, len(self.scored))
        best = candidates[0]
        if scores[best] < self.least_score:
            return []  # for good
        self.parents[child] += (best,)
        self.log_p[child] = self.estimates(child, self.parents[child], self.scored)
        left = candidates + others
        return (left[: self.n_later] if first_round else left)[1:]
