"""The centred Gram operator at w, from the exact kernel or from random Fourier features."""

from .base import Gram, Operator
from .exact import ExactGram, ExactGrams
from .fourier import FourierGram, FourierGrams, Moments, single_effects

__all__ = [
    "ExactGram",
    "ExactGrams",
    "FourierGram",
    "FourierGrams",
    "Gram",
    "Moments",
    "Operator",
    "single_effects",
]
