"""The command line: a thin layer over the public interface."""
