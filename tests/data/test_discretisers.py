from sklearn.utils.estimator_checks import parametrize_with_checks

from countwise.data.discretise import DISCRETISERS


@parametrize_with_checks([cls() for cls in DISCRETISERS.values()])
def test_scikit_learn(estimator, check):
    check(estimator)
