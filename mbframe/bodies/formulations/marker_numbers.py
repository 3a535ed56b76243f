"""How the 12 numbers of a marker are ordered: its point, then its axes row by row."""

from __future__ import annotations


def body_vector(marker, k):
    """A marker's point for k = 0, else its axis k - 1, in body axes."""
    if k == 0:
        return marker.point[0], marker.point[1], marker.point[2]
    return marker.frame[0, k - 1], marker.frame[1, k - 1], marker.frame[2, k - 1]


def number(k, r):
    """Where component r of the point (k = 0) or of the axis k - 1 stands among the 12 numbers of a marker."""
    return r if k == 0 else 2 + k + 3 * r
