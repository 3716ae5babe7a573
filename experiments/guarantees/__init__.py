"""Do the guarantees hold? Simulated error rates of the tools around the ranking.

One module for each tool, with its ``STUDIES`` and the ``TABLES`` that ``docs/guarantees.md`` shows.
"""

from . import attacks, dependence, interactions, knockoffs, stability, verdicts

MODULES = (verdicts, knockoffs, dependence, stability, interactions, attacks)
STUDIES = [study for module in MODULES for study in module.STUDIES]
TABLES = {name: table for module in MODULES for name, table in module.TABLES.items()}
