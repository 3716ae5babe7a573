"""How many rows an evaluation of the criterion can afford.

Multiplications are counted, not seconds: the answer must not hang on the machine.
"""

from dataclasses import dataclass
from math import log

from scipy.optimize import brentq

from .kernels import Kernel
from .kernels.additive import waves_for


@dataclass(frozen=True)
class Effort:
    """What an evaluation may take.

    The first steps of a stage need no more than a rough direction, and few rows for each of its
    columns give it. The last steps see as many rows as the work allows.
    """

    work: float  # multiplications
    first_rows: float  # of the first steps, for each column
    fewest_first: int  # of them, whatever the columns
    fewest_rows: int  # of the last steps, whatever the work
    growth: float  # rows of later steps, about so many times those of the steps before
    matrix_rows: int  # up to these the kernel matrix, beyond them components
    looseness: float  # tolerance of steps on fewer rows, as a multiple of that of the next more

    def climb(self, n_columns: int, n_rows: int) -> list[int]:
        """Numbers of rows of the first steps of a stage: more and more, well below all of its rows.

        >>> Effort(1e9, 10.0, 1000, 250, 8, 2000, 3.0).climb(50, 100_000)
        [1000, 10000]
        """
        first = max(self.fewest_first, int(self.first_rows * n_columns))
        growth = n_rows / first
        n_levels = max(0, round(log(growth) / log(self.growth)))
        return [int(first * growth ** (k / n_levels)) for k in range(n_levels)]

    def rows(self, kernel: Kernel, n_columns: int, n_components: int) -> int:
        """Rows of an evaluation among so many columns; without components, those of a matrix."""
        sums, alone = kernel.sums_features, not kernel.sees_interactions
        columns = n_columns * (1 + sums * waves_for(n_columns, alone=True))
        by_matrix = int(brentq(lambda n: n**2 * (columns + n / 3.0) - self.work, 0.0, self.work))
        rows = max(by_matrix, self.fewest_rows)
        if n_components == 0 or rows <= self.matrix_rows:
            return rows
        if n_components < 2 * n_columns and kernel.sees_interactions:
            # Of fewer frequencies than columns some directions are not seen at all.
            return self.matrix_rows
        total = n_components + sums * n_columns * waves_for(n_columns, alone=alone)
        return max(self.matrix_rows, int(self.work / total**2))
