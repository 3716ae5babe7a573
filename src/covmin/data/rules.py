"""Thresholds for inferring the kind of a column."""

# Maximum number of indicators per column; the rarest of more levels are merged.
MOST_LEVELS = 255
# A column with at most this many levels is categorical, even with few rows or mostly numbers.
FEW_LEVELS = 10
# Levels with fewer rows are merged: so few rows carry little information.
FEWEST_IN_LEVEL = 5
# Levels with at least this share of the rows are not merged.
RARE_SHARE = 0.01
# Share of the cells in a column of numbers that may be something else and count as missing.
STRAY_SHARE = 0.1
# Distinct integers are row numbers if at most this share of those between the smallest and the
# largest is absent.
SKIPPED_SHARE = 0.1
# The same if they increase from row to row.
SKIPPED_IN_ORDER = 0.4
# In fewer rows than this, consecutive integers may occur by chance or by design.
FEWEST_COUNTED = 20
# Consecutive integers in this range are years.
YEARS = (1800, 2100)
