"""Kernel feature selection by conditional covariance minimisation."""

__version__ = "0.1.0.dev0"
