"""The centred Gram operator at w, exact or by random components.

With sample weights p (Σp = 1; 1/n each unless given) and the inner product
``⟨a, b⟩ = Σᵢ pᵢ aᵢ bᵢ``, the operator is ``C_w f = G_w (p ∘ f)``, where
``G_w = H K_w Hᵀ`` and ``H = I − 1pᵀ``. With equal weights it is ``G_w f / n``, so

``(C_w + εI) f = Y   ⟺   (G_w + nεI) α = Y with α = f / n``:

the paper's system, free of n and ready for weighted samples. ``ε·f`` is the residual
of kernel ridge regression with a free intercept.

Both operators speak the same few verbs, so that one objective serves both. Vectors are
(n, k) arrays for the exact operator. For random components they are coefficients on the
basis ``[Y V]``, which holds every vector the objectives meet: all the linear algebra of
an evaluation is then D×D, and the samples are visited twice, whatever the objective.
"""

from typing import Protocol, Self

import numpy as np

from ..arrays import Array


class Operator(Protocol):
    """``C_w`` at one w."""

    Y: Array  # the centred responses, as a vector of this operator

    def matmul(self, F: Array) -> Array:
        """``C_w F``."""

    def solve(self, ridge: float) -> Array:
        """``(C_w + ridge·I)⁻¹ Y``."""

    def dots(self, P: Array, Q: Array) -> Array:
        """``⟨P, Q⟩`` column by column, shape (k,)."""

    def grad(self, P: Array, Q: Array) -> np.ndarray:
        """``∇_w Σ ⟨P, C_w Q⟩`` with P and Q held fixed, shape (d,)."""

    def leave_one_out(self, ridge: float) -> float:
        """Mean squared leave-one-out residual of kernel ridge regression, in closed form."""

    def predict(self, X: Array, ridge: float) -> np.ndarray:
        """Kernel ridge prediction of the centred responses at new samples, (m, k)."""


class Gram(Protocol):
    """The samples and the kernel, from which ``C_w`` is made at any w."""

    @property
    def zero_is_absorbing(self) -> bool:
        """Whether a column at weight zero stays there."""

    @property
    def keeps_vectors(self) -> bool:
        """Whether a vector of an operator is one of the operators after :meth:`restrict`."""

    def at(self, w: np.ndarray) -> Operator:
        """The operator at w."""

    def restrict(self, columns: np.ndarray) -> Self:
        """The same problem with some of the columns."""
