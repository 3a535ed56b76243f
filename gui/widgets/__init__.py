"""Widgets of general use, with their look."""
