"""Measurements of speed; timings only as ratios or against a bar, in one run."""
