"""Settings of the test run that must be there before SciPy is imported."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # else scikit-learn's check of array API input would be skipped

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("repeatable")  # a landing is judged by its own change; runs by hand keep exploring
