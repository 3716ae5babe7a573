"""Services around a computation: progress, checkpoints, threads, memory and files."""
