"""Tables that are read in blocks of rows."""
