"""The mathematics of the method: depends only on NumPy, SciPy and the array API."""
