"""States that stay what they are: equilibria and steady motions."""
