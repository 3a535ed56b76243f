"""From plain functions to compiled stages that are called by address and cached between processes."""
