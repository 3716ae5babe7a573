"""How far to trust a selection: frequencies, false discoveries, p-values."""
