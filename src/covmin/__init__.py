"""Kernel feature selection by conditional covariance minimisation."""

from .criterion import conditional_covariance_trace
from .selector import CCMSelector

__version__ = "0.1.0.dev0"

__all__ = ["CCMSelector", "__version__", "conditional_covariance_trace"]
