"""Read the user's data and prepare it for the criterion: tables, columns, responses, blocks."""

from .layout import Layout
from .table import Table, TableOptions, read

__all__ = ["Layout", "Table", "TableOptions", "read"]
