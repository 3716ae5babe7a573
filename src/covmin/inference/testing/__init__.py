"""Conditional tests: p-values for sets of features, and a verdict on every feature."""
