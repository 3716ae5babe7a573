"""What goes on beside a computation: progress, threads, memory, files."""
