"""Read the user's data and prepare it for the criterion: tables, columns, responses, sources."""
