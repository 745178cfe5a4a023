"""Settings of the test run that must be there before SciPy is imported."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # else scikit-learn's check of array API input would be skipped
