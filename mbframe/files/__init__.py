"""Models and results as files."""
