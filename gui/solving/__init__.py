"""The solver process, and what it is asked to do."""
