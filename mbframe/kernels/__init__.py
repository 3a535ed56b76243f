"""Everything that runs compiled. Nothing here knows a class of the description layer; only here is numba imported."""
