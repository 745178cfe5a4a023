"""Classifiers that go wrong in ways that only a process of its own survives; a worker must be able to import them."""

import os
import signal
import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Frequencies(ClassifierMixin, BaseEstimator):
    """Class frequencies; a subclass goes wrong on data sets with the class "bad"."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.proba_ = counts / counts.sum()
        if "bad" in self.classes_:
            self.go_wrong()
        return self

    def predict_proba(self, X):
        return np.tile(self.proba_, (len(X), 1))

    def go_wrong(self):
        pass


class Raises(Frequencies):
    def go_wrong(self):
        raise RuntimeError("no luck")


class Segfault(Frequencies):
    def go_wrong(self):
        os.kill(os.getpid(), signal.SIGSEGV)


class Killed(Frequencies):
    def go_wrong(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Exits(Frequencies):
    def go_wrong(self):
        os._exit(3)


class Hungry(Frequencies):
    def go_wrong(self):
        self.blocks = [np.ones(2**24) for _ in range(1000)]  # 128 MB each


class Sleeps(Frequencies):
    def go_wrong(self):
        time.sleep(60)


class Slow(Frequencies):
    """Takes a while on every data set."""

    def fit(self, X, y):
        time.sleep(0.15)
        return super().fit(X, y)
