"""Motions that are shown: the clock, its timeline, and what else moves the bodies."""
