"""The interpreter of expressions and tables, and how compiled methods call it."""
