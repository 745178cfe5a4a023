"""Every public estimator keeps scikit-learn's contract, with nothing excused."""

import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import countwise as cw

ESTIMATORS = [
    cw.NBClassifier(),
    cw.TANClassifier(),
    cw.KDBClassifier(k=2),
    cw.SKDBClassifier(k=2),
    cw.BNClassifier(),
    cw.ESKDBClassifier(n_estimators=3, k=2),
    cw.ESKDBClassifier(n_estimators=3, k=2, member_weights="loo", random_parents=True),
    cw.KDFClassifier(),
    cw.AnDEClassifier(),
    cw.AnDEClassifier(n=2),
    cw.PoolClassifier(n_members=2),
    cw.TunedKDBClassifier(),
    cw.ProbabilityTreeClassifier(),
    cw.ProbabilityTreeClassifier(criterion="gini", smoothing="hdp"),
    cw.ProbabilityTreeClassifier(pruning="reduced-error", curtail=5),
    cw.ProbabilityTreeClassifier(pruning="cost-complexity"),
    cw.ProbabilityTreeClassifier(validation=True),
    cw.ProbabilityForestClassifier(n_estimators=3),
    cw.ProbabilityForestClassifier(n_estimators=3, bootstrap=False, max_features=2),
    cw.NBClassifier(smoothing="m-branch", discretiser="equal-frequency"),
    cw.SmoothedTreeClassifier(),
    cw.SmoothedTreeClassifier(ExtraTreesClassifier(3, random_state=0), smoothing="m-branch"),
    cw.CostSensitive(cw.NBClassifier()),
    cw.CostSensitive(LogisticRegression()),
]


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_contract(estimator, check):
    check(estimator)
