"""Scripts behind the figures of the documentation."""
