"""The centred Gram operator at w, from the exact kernel or from random Fourier features.

With sample weights p (Σp = 1; 1/n each by default) and the inner product
``⟨a, b⟩ = Σᵢ pᵢ aᵢ bᵢ``, the operator is ``C_w f = G_w (p ∘ f)``, where
``G_w = H K_w Hᵀ`` and ``H = I − 1pᵀ``. With equal weights it is ``G_w f / n``, so

``(C_w + εI) f = Y   ⟺   (G_w + nεI) α = Y with α = f / n``,

which is the paper's system, independent of n and ready for weighted samples. ``ε·f`` is the
residual of kernel ridge regression with an unpenalised intercept.

Both operators have the same methods, so one objective serves both: ``matmul(F)`` is ``C_w F``,
``solve(ridge)`` is ``(C_w + ridge·I)⁻¹ Y``, ``dots(P, Q)`` are the ``⟨P, Q⟩`` column by column, and
``grad(P, Q)`` is ``∇_w Σ ⟨P, C_w Q⟩`` for fixed P and Q. For the exact operator, vectors are (n, k)
arrays. For random Fourier features they are coefficients in the basis ``[Y V]``, which
spans all vectors that the objectives need: the linear algebra of an evaluation is then D×D, and
each evaluation passes over the samples twice, whatever the objective.
"""

from .exact import ExactGram, ExactOperator
from .fourier import FourierGram, FourierOperator

__all__ = ["ExactGram", "FourierGram", "Gram", "Operator"]

# ``C_w`` at one w; and the samples and the kernel, from which it is computed at any w.
Operator = ExactOperator | FourierOperator
Gram = ExactGram | FourierGram
