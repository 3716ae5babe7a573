"""The two experiments of the paper: ``python -m experiments synthetic`` and ``real``."""
