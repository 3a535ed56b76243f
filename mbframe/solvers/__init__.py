"""Solver strategies and the simulation."""
