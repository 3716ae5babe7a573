"""What users hold, made ready for the criterion: tables, columns, responses, sources."""
