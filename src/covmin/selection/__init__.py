"""The selector and the criterion."""
