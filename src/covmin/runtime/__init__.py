"""Services around a computation: progress, resuming, threads, seeds and memory."""

__version__ = "0.1.0"
