"""Knockoffs: random copies of features that bound the rate of false discoveries."""
