"""How many rows an evaluation of the criterion can afford.

The limit counts multiplications, not seconds, so that the result does not depend on the machine.
"""

from dataclasses import dataclass
from math import log

from scipy.optimize import brentq

from .kernels import Kernel
from .kernels.additive import waves_for


@dataclass(frozen=True)
class Effort:
    """Limits on the work of an evaluation.

    The first steps of a stage need only a rough direction, for which a few rows per column are
    enough. The last steps use as many rows as the limit allows.
    """

    work: float  # multiplications
    first_rows: float  # rows per column in the first steps
    fewest_first: int  # rows in the first steps, at least
    fewest_rows: int  # rows in the last steps, at least
    growth: float  # approximate factor by which the number of rows grows from level to level
    matrix_rows: int  # up to this many rows use the kernel matrix, beyond it Fourier features
    looseness: float  # tolerance on fewer rows, as a multiple of that on the next larger number

    def climb(self, n_columns: int, n_rows: int) -> list[int]:
        """Return the increasing numbers of rows for the first steps of a stage.

        >>> Effort(1e9, 10.0, 1000, 250, 8, 2000, 3.0).climb(50, 100_000)
        [1000, 10000]
        """
        first = max(self.fewest_first, int(self.first_rows * n_columns))
        growth = n_rows / first
        n_levels = max(0, round(log(growth) / log(self.growth)))
        return [int(first * growth ** (k / n_levels)) for k in range(n_levels)]

    def rows(self, kernel: Kernel, n_columns: int, n_components: int) -> int:
        """Return the number of rows of an evaluation; without components, that of a matrix."""
        sums, alone = kernel.sums_features, not kernel.sees_interactions
        columns = n_columns * (1 + sums * waves_for(n_columns, alone=True))
        by_matrix = int(brentq(lambda n: n**2 * (columns + n / 3.0) - self.work, 0.0, self.work))
        rows = max(by_matrix, self.fewest_rows)
        if n_components == 0 or rows <= self.matrix_rows:
            return rows
        if n_components < 2 * n_columns and kernel.sees_interactions:
            # With fewer frequencies than columns, some directions are missed.
            return self.matrix_rows
        total = n_components + sums * n_columns * waves_for(n_columns, alone=alone)
        return max(self.matrix_rows, int(self.work / total**2))
