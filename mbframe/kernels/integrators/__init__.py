"""Stages that take steps, and the march that calls them."""
