"""The centred Gram operator at w, from the exact kernel or from random Fourier features.

With sample weights p (Σp = 1; 1/n each by default) and the inner product
``⟨a, b⟩ = Σᵢ pᵢ aᵢ bᵢ``, the operator is ``C_w f = G_w (p ∘ f)``, where
``G_w = H K_w Hᵀ`` and ``H = I − 1pᵀ``. With equal weights it is ``G_w f / n``, so

``(C_w + εI) f = Y   ⟺   (G_w + nεI) α = Y with α = f / n``,

which is the paper's system, independent of n and ready for weighted samples. ``ε·f`` is the
residual of kernel ridge regression with an unpenalised intercept.

Both operators have the same methods, so one objective serves both. For the exact operator, vectors
are (n, k) arrays. For random Fourier features they are coefficients in the basis ``[Y V]``, which
spans all vectors that the objectives need: the linear algebra of an evaluation is then D×D, and
each evaluation passes over the samples twice, whatever the objective.
"""

from typing import Protocol, Self

import numpy as np

from ..arrays import Array
from .exact import ExactGram
from .fourier import FourierGram

__all__ = ["ExactGram", "FourierGram", "Gram", "Operator"]


class Operator(Protocol):
    """The operator ``C_w`` at one w."""

    Y: Array  # the centred responses, as a vector of this operator

    def matmul(self, F: Array) -> Array:
        """Return ``C_w F``."""

    def solve(self, ridge: float) -> Array:
        """Return ``(C_w + ridge·I)⁻¹ Y``."""

    def dots(self, P: Array, Q: Array) -> Array:
        """Return ``⟨P, Q⟩`` column by column, shape (k,)."""

    def grad(self, P: Array, Q: Array) -> np.ndarray:
        """Return ``∇_w Σ ⟨P, C_w Q⟩`` for fixed P and Q, shape (d,)."""


class Gram(Protocol):
    """The samples and the kernel, from which ``C_w`` is computed at any w."""

    @property
    def zero_is_absorbing(self) -> bool:
        """Whether a column with weight zero stays at zero."""

    @property
    def keeps_vectors(self) -> bool:
        """Whether the vectors of an operator remain valid after :meth:`restrict`."""

    def at(self, w: np.ndarray) -> Operator:
        """Return the operator at w."""

    def restrict(self, columns: np.ndarray) -> Self:
        """Return the same operator for some of the columns."""
