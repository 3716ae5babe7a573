"""The same as ``python -m experiments``: ``synthetic`` and ``real`` are the paper's."""

from experiments.__main__ import main

main()
