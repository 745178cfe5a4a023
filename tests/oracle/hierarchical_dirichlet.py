"""The hierarchical Multinomial-Dirichlet model of paper 003: the bound as it is printed and its maximum by a general
optimiser; and the posterior itself, by exact polynomials.

Tables are arrays of counts, values x columns; alpha0 is a vector over the values.
"""

from fractions import Fraction
from functools import reduce
from math import log

import numpy as np
from scipy.optimize import minimize
from scipy.special import digamma, gammaln, polygamma

from countwise.tree.count_tree import CountTree
from oracle.context_tree import sorted_paths

# Tables


def table_tree(counts):
    """The tree of one table: a root, and a leaf for every column that has rows."""
    counts = np.asarray(counts, float)
    rows = [counts.sum(1), *counts.T[counts.sum(0) > 0]]
    cells = [(row, value) for row in rows for value in np.flatnonzero(row)]
    return CountTree(
        parent=np.array([-1] + [0] * (len(rows) - 1), np.int32),
        level_ptr=np.array([0, 1, len(rows)]),
        cell_ptr=np.cumsum([0, *((row > 0).sum() for row in rows)]),
        cell_value=np.array([value for _, value in cells], np.int32),
        cell_count=np.array([row[value] for row, value in cells]),
        arity=len(counts),
    )


def drawn(rng, n_values, n_columns, n_rows):
    """A table of the simulation of paper 003, section 3.2, without its empty columns."""
    alpha = n_values * rng.dirichlet(np.ones(n_values))
    columns = rng.multinomial(n_rows, np.full(n_columns, 1 / n_columns))
    counts = np.array([rng.multinomial(n, rng.dirichlet(np.maximum(alpha, 1e-9))) for n in columns if n])
    return counts.T


# Variational inference


def bound(counts, nu, tau, kappa, s, alpha0):
    """Appendix B.1, the last formula, term by term. (Section 3.1 prints log Gamma(nu_y) under a sum over x too.)"""
    n_values, n_columns = counts.shape
    log_theta = digamma(nu) - digamma(nu.sum(0))
    log_kappa = digamma(tau * kappa) - digamma(tau)
    return (
        (counts * log_theta).sum()
        + n_columns * (gammaln(s) - gammaln(s * kappa).sum() - s / tau * (n_values - 1))
        + n_columns * ((s * kappa - 1) * (np.log(kappa) - log_kappa)).sum()
        + ((s * kappa - 1)[:, None] * log_theta).sum()
        + gammaln(alpha0.sum())
        - gammaln(alpha0).sum()
        + ((alpha0 - 1) * log_kappa).sum()
        - gammaln(nu.sum(0)).sum()
        + gammaln(nu).sum()
        - ((nu - 1) * log_theta).sum()
        - gammaln(tau)
        + gammaln(tau * kappa).sum()
        - ((tau * kappa - 1) * log_kappa).sum()
    )


def profile(counts, tau, kappa, s, alpha0):
    """The bound with nu at its optimum (eq. 14)."""
    return bound(counts, counts + s * kappa[:, None], tau, kappa, s, alpha0)


def gradient(counts, tau, kappa, s, alpha0):
    """Of the bound: in tau (B.3.1) and in every kappa_x (B.3.2, up to a constant), with nu at its optimum."""
    n_values, n_columns = counts.shape
    t = tau * kappa
    rest = alpha0 - t - n_columns * (s * kappa - 1)
    in_tau = ((polygamma(1, t) * kappa - polygamma(1, tau)) * rest).sum() + s / tau**2 * n_columns * (n_values - 1)
    in_kappa = (
        tau * polygamma(1, t) * rest
        - s * n_columns * (digamma(t) + digamma(s * kappa) - np.log(kappa) - 1)
        - n_columns / kappa
        + s * digamma(counts + s * kappa[:, None]).sum(1)
    )
    return in_tau, in_kappa


def best(counts, s, alpha0):
    """(kappa, tau) of the greatest bound, over kappa = softmax(z) and log tau."""
    if len(counts) == 1:
        return np.ones(1), 1.0

    def unpack(z):
        e = np.exp(z[:-1] - z[:-1].max())
        return np.exp(z[-1]), e / e.sum()

    def loss(z):
        tau, kappa = unpack(z)
        in_tau, in_kappa = gradient(counts, tau, kappa, s, alpha0)
        slope = np.append(kappa * (in_kappa - kappa @ in_kappa), tau * in_tau)
        return -profile(counts, tau, kappa, s, alpha0), -slope

    start = np.append(np.log(counts.sum(1) + alpha0), np.log(counts.sum() + alpha0.sum()))
    tau, kappa = unpack(minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 5000}).x)
    return kappa, tau


def kappa_of(counts, s, alpha0):
    """E[alpha / s]: values without rows share z ~ Beta, the others 1 - z as the optimum of their own table."""
    seen = counts.sum(1) > 0
    if not seen.any():
        return alpha0 / alpha0.sum()
    if seen.all():
        return best(counts, s, alpha0)[0]
    table, a, b = counts[seen], alpha0[~seen].sum(), alpha0[seen].sum()
    scale = b / (a + b)
    for _ in range(1000):
        k, _ = best(table, s * scale, alpha0[seen])
        strength = s * scale * k[:, None]
        draws = (strength * (digamma(table + strength) - digamma(strength))).sum()
        before, scale = scale, np.exp(digamma(b + draws) - digamma(a + b + draws))
        if abs(scale - before) < 1e-10:
            break
    kappa = np.empty(len(counts))
    kappa[seen] = k * (b + draws) / (a + b + draws)
    kappa[~seen] = alpha0[~seen] / (a + b + draws)
    return kappa


# Trees: {path: {value: count}} in, {path: [probability of every value]} out


def flat(nodes, arity, s, weight):
    kappa = kappa_of(np.array([_vector(nodes[p], arity) for p in _leaves(nodes)]).T, s, np.full(arity, weight))
    return {path: _column(_vector(counts, arity), s, kappa) for path, counts in nodes.items()}


def tree(nodes, arity, s, weight):
    leaves, kappa, proba = set(_leaves(nodes)), {}, {}
    for path in sorted_paths(nodes):
        above = kappa[path[:-1]] if path else np.full(arity, 1 / arity)
        if path in leaves and path:
            proba[path] = _column(_vector(nodes[path], arity), s, above)
            continue
        children = [p for p in nodes if p and p[:-1] == path] or [path]
        columns = np.array([_vector(nodes[p], arity) for p in children]).T
        proba[path] = kappa[path] = kappa_of(columns, s, weight * arity * above)
    if () in leaves:
        proba[()] = _column(_vector(nodes[()], arity), s, kappa[()])
    return proba


def _leaves(nodes):
    return [path for path in nodes if not any(p and p[:-1] == path for p in nodes)]


def _vector(counts, arity):
    return np.array([counts.get(value, 0.0) for value in range(arity)])


def _column(counts, s, kappa):
    return (counts + s * kappa) / (counts.sum() + s)


# Exact moments (Lemmas 3 and 4). The posterior of a = alpha / s is proportional to
# prod_x a_x^(alpha0_x - 1) prod_y (s a_x)(s a_x + 1) .. (s a_x + n_xy - 1): one polynomial for each a_x. By Dirichlet's
# integral a_1^k_1 a_2^k_2 .. has the prior mean (alpha0_1)_k_1 (alpha0_2)_k_2 .. / (s0)_(k_1 + k_2 + ..), rising
# factorials: coefficients times rising factorials are convolved over x, and only the total degree is left.


def exact_evidence(counts, s, alpha0, powers=None):
    """E[prod_x a_x^powers_x prod_y P(column y | a)] under the prior, a fraction; s and alpha0 whole or Fractions."""
    powers = powers or [0] * len(alpha0)
    sequences = []
    for row, a0, power in zip(counts.tolist(), alpha0, powers, strict=True):
        polynomial = [1]
        for n in row:
            for m in range(int(n)):
                polynomial = _times(polynomial, [m, s])
        sequences.append([c * _rising(a0, k + power) for k, c in enumerate(polynomial)])
    by_degree = reduce(_times, sequences)
    total = sum(Fraction(c) / _rising(sum(alpha0), d + sum(powers)) for d, c in enumerate(by_degree))
    for n in counts.sum(0).tolist():
        total /= _rising(s, int(n))
    return total


def exact_log_evidence(counts, s, alpha0):
    value = exact_evidence(counts, s, alpha0)
    return log(value.numerator) - log(value.denominator)


def exact_mean(counts, s, alpha0):
    """E[alpha_x / s | counts]."""
    whole = exact_evidence(counts, s, alpha0)
    units = np.eye(len(alpha0), dtype=int).tolist()
    return np.array([float(exact_evidence(counts, s, alpha0, unit) / whole) for unit in units])


def exact_covariance(counts, s, alpha0):
    """Cov(alpha_x, alpha_x' | counts) / s^2."""
    whole, mean, units = (
        exact_evidence(counts, s, alpha0),
        exact_mean(counts, s, alpha0),
        np.eye(len(alpha0), dtype=int),
    )
    second = [[float(exact_evidence(counts, s, alpha0, (u + v).tolist()) / whole) for u in units] for v in units]
    return np.array(second) - np.outer(mean, mean)


def _times(a, b):
    return np.convolve(np.array(a, dtype=object), np.array(b, dtype=object)).tolist()


def _rising(a, k):
    value = 1
    for i in range(k):
        value *= a + i
    return value
