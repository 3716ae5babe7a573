"""The rules behind every "auto", and the plan that says what they decided."""

from .formulation import Formulation, Fourier
from .plan import Decision, Plan

__all__ = ["Decision", "Formulation", "Fourier", "Plan"]
