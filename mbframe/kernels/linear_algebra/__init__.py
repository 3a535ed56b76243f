"""Factorizations: the sparse system matrix, blocks of bodies, small dense matrices."""
