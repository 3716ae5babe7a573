"""The selector, the criterion and the results of a fit."""
