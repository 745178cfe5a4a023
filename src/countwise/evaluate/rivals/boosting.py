"""Boosting of other packages: XGBoost, LightGBM, CatBoost and explainable boosting machines.

Each reads a pandas frame with the categories of the training rows, and is imported where it is made.
"""

from __future__ import annotations

import warnings
from typing import Any

from countwise.evaluate.rivals.classifier import CodeVector, TableClassifier
from countwise.evaluate.rivals.tables import FrameTable, MatrixLike
from countwise.parallel import n_threads

FEWEST_ROWS = 7  # of which the 15 % that stop an explainable boosting machine early are one


def xgboost(seed: int, jobs: int | None) -> TableClassifier:
    """The defaults of paper 004, section 4.3.7, which are XGBoost's: 100 rounds of depth 6."""
    return TableClassifier(xgb_classifier(seed), FrameTable(), n_jobs=jobs, threads_as="n_jobs")


def xgb_classifier(seed: int) -> Any:
    """XGBoost's classifier with native categories."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=100, max_depth=6, tree_method="hist", enable_categorical=True, random_state=seed)


def lightgbm(seed: int, jobs: int | None) -> TableClassifier:
    """The defaults: 100 rounds of 31 leaves."""
    from lightgbm import LGBMClassifier

    classifier = LGBMClassifier(random_state=seed, verbose=-1)
    return TableClassifier(classifier, FrameTable(), n_jobs=jobs, threads_as="n_jobs")


class CatBoostTable(TableClassifier):
    """Tells CatBoost which columns are categories, and keeps its other steps to the threads it has.

    It refuses tables in which no attribute varies: then the shares of the classes are all there is to learn.
    """

    def _train(self, estimator: Any, data: MatrixLike, codes: CodeVector) -> Any:
        from catboost import CatBoostError

        try:
            return estimator.fit(self._pool(data, codes))
        except CatBoostError as error:
            if "constant" not in str(error):
                raise
            return None

    def _predict(self, data: MatrixLike) -> Any:
        return self.estimator_.predict_proba(self._pool(data), thread_count=n_threads(self.n_jobs))

    def _pool(self, data: MatrixLike, codes: CodeVector | None = None) -> Any:
        from catboost import Pool

        places = [i for i, is_category in enumerate(self.reader_.is_category) if is_category]
        return Pool(data, codes, cat_features=places, thread_count=n_threads(self.n_jobs))


def catboost(seed: int, jobs: int | None) -> TableClassifier:
    """The defaults: 1,000 rounds of depth 6, at a rate that depends on the number of rows; no files, no output."""
    from catboost import CatBoostClassifier

    classifier = CatBoostClassifier(iterations=1000, random_seed=seed, verbose=False, allow_writing_files=False)
    return CatBoostTable(classifier, FrameTable(missing="value"), n_jobs=jobs, threads_as="thread_count")


class EBMTable(TableClassifier):
    """Leaves out the warnings: they are about pictures, which are not drawn here.

    The machine sets rows aside to stop early. Where there are too few for that it would go all 50,000 rounds, for
    minutes, with leaves of 4 rows that the rest cannot fill: then the shares of the classes are all there is to learn.
    """

    def _train(self, estimator: Any, data: MatrixLike, codes: CodeVector) -> Any:
        if len(codes) < FEWEST_ROWS:
            return None
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Missing values detected", UserWarning)
            warnings.filterwarnings("ignore", "For multiclass we cannot currently visualize pairs", UserWarning)
            return super()._train(estimator, data, codes)


def ebm(seed: int, jobs: int | None) -> TableClassifier:
    """The defaults: 14 bags, and pairs of attributes. More than one of ``jobs`` are processes."""
    from interpret.glassbox import ExplainableBoostingClassifier

    classifier = ExplainableBoostingClassifier(random_state=seed, n_jobs=1)
    return EBMTable(classifier, FrameTable(), n_jobs=jobs, threads_as="n_jobs")
