"""The 3D view."""
