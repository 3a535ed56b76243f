"""The stability tab: roots, modes that move, and how both change with a parameter."""
