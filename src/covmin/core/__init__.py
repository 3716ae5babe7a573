"""The method itself: NumPy and the array API only, no scikit-learn, no pandas."""
