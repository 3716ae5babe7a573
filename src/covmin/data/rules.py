"""The numbers by which a column is taken for one kind or another."""

# Indicators of one column, at most: of more levels the rarest are merged.
MOST_LEVELS = 255
# So few levels are categories even where rows are few, or most of them are numbers.
FEW_LEVELS = 10
# A level of fewer rows is merged with others: so few say next to nothing about it.
FEWEST_IN_LEVEL = 5
# But not one that has this share of the rows.
RARE_SHARE = 0.01
# Share of the cells of a column of numbers that may be something else, and count as missing.
STRAY_SHARE = 0.1
# Whole numbers, all different, that leave out at most this share of those between the least and
# the largest count the rows.
SKIPPED_SHARE = 0.1
# The same where they rise from row to row.
SKIPPED_IN_ORDER = 0.4
# Fewer rows than this may have consecutive numbers by chance or by design.
FEWEST_COUNTED = 20
# Consecutive numbers between these are years.
YEARS = (1800, 2100)
