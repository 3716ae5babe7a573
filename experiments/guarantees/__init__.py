"""Do the guarantees hold? Simulated error rates of the tools around the ranking.

One module for each tool. A new one has a ``PART`` of its own and an entry in ``PARTS``.
"""

from . import dependence, interactions, knockoff_columns, knockoffs, stability, verdicts
from .simulation import Tables

MODULES = (verdicts, knockoffs, knockoff_columns, dependence, stability, interactions)
PARTS = {module.PART.name: module.PART for module in MODULES}
TABLES: Tables = {name: table for part in PARTS.values() for name, table in part.tables.items()}
