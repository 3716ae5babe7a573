"""Measurements of speed; timings only as ratios or against a limit, in one run."""
