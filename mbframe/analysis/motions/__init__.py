"""Motions that are not steady: their variations, periodic ones, and branches of them over a parameter."""
