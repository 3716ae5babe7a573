"""Pictures in scikit-learn's style: a Display holds what is drawn, ``plot(ax=)`` draws it."""
