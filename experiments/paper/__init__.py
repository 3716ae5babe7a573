"""The two experiments of the paper.

J. Chen, M. Stern, M. J. Wainwright and M. I. Jordan, "Kernel feature selection via conditional
covariance minimization", NeurIPS 2017. Two commands make its figures, each with its tables::

    python -m experiments synthetic  # ranks of the true features against samples
    python -m experiments real       # accuracy against the number of features

An interrupted run resumes. The real sets are read from the folder ``COVMIN_DATA`` or downloaded;
see :mod:`.data`.
"""
