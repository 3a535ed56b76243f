"""Articulated-body recursion: equations of motion in the joint coordinates of a spanning tree."""
