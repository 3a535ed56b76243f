"""Basics that every room needs: places, settings, units, names and words."""
