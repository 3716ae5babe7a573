"""What "auto" stands for."""
