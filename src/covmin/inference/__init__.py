"""Statistical inference: selection frequencies, false discovery rates and p-values."""
