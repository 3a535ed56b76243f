"""Small motions about a state: linear equations, their roots, modes and transfer matrices."""
