"""The HTML report: data → plain dict → template."""
