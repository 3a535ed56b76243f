"""Roots and modes in words: what a printed linearization, a table row, a tooltip and a headline say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

DECAYS, NEUTRAL, GROWS, IGNORABLE = "decays", "neutral", "grows", "ignorable"
NOTICEABLE = 0.3  # of the largest motion: what a body must take part in a mode to be named
NAMED = 2  # bodies
AXES = ("x", "y", "z")
NOT_DETERMINED = "not determined"
ALONG = 0.95  # share of a vector from which on it counts as parallel to an axis


@dataclass(frozen=True)
class Row:
    """A root with its mode; a pair of conjugate roots is one row.

    `index` is the place in `Linearization.modes`, for a pair that of the root with the positive imaginary part.
    """

    index: int
    mode: Any
    pair: bool
    behaviour: str
    dimension: int = 3

    @property
    def root(self) -> complex:
        return complex(self.mode.eigenvalue)

    @cached_property
    def moving(self) -> str:
        """What moves most, or why the root says nothing about stability."""
        return self.mode.explanation or what_moves(self.mode, self.dimension)

    @cached_property
    def moving_briefly(self) -> str:
        """The same for a narrow column."""
        return self.mode.explanation or what_moves(self.mode, self.dimension, brief=True)


class Roots:
    """A linearization, ordered for people: the roots that decide come first, ignorable ones last."""

    def __init__(self, linearization: Any) -> None:
        from mbframe.analysis.linear.spectrum import Spectrum

        self.linearization = linearization
        self.spectrum = Spectrum.of(linearization)
        self.counted = [k for k, mode in enumerate(linearization.modes) if not mode.ignorable]
        words = {-1: DECAYS, 0: NEUTRAL, 1: GROWS}
        behaviour = {k: words[int(sign)] for k, sign in zip(self.counted, self.spectrum.signs, strict=True)}
        conjugates = _conjugates(linearization.eigenvalues)
        kept = [k for k in range(len(linearization.modes)) if k not in conjugates]
        dimension = linearization.system.dimension
        rows = [
            Row(k, linearization.modes[k], k in conjugates.values(), behaviour.get(k, IGNORABLE), dimension)
            for k in kept
        ]
        self.rows = sorted(rows, key=lambda row: (row.behaviour == IGNORABLE, -row.root.real, row.root.imag))
        self.row_of_mode = {row.index: number for number, row in enumerate(self.rows)}
        self.row_of_mode |= {k: self.row_of_mode[partner] for k, partner in conjugates.items()}

    def following(self, before: Roots, row: int) -> int | None:
        """The row that is the same mode as a row of roots a little before, by similarity; None if there is none."""
        from mbframe.analysis.linear.spectrum import partners

        if not 0 <= row < len(before.rows):
            return None
        old = before.rows[row]
        if old.behaviour == IGNORABLE:
            alike = [k for k, mode in enumerate(self.linearization.modes) if mode.explanation == old.mode.explanation]
            return self.row_of_mode[alike[0]] if alike else None
        if before.spectrum.shapes.shape[0] != self.spectrum.shapes.shape[0]:
            return None
        place = before.counted.index(old.index)
        found = dict(partners(before.spectrum, self.spectrum)).get(place)
        return None if found is None else self.row_of_mode[self.counted[found]]

    @property
    def verdict(self) -> tuple[str, str]:
        """A word ("stable", "marginal", "unstable", "not determined") and a sentence that explains it."""
        lin = self.linearization
        growing = [row for row in self.rows if row.behaviour == GROWS]
        if lin.stability == "unstable":
            if not growing:
                return "unstable", f"{lin.unstable_count} roots grow; none of them is among those that were computed."
            fastest = max(row.root.real for row in growing)
            count = "One mode grows" if len(growing) == 1 else f"{len(growing)} modes grow"
            doubling = seconds(np.log(2.0) / fastest)
            known, seen = lin.known_unstable_count, sum(2 if row.root.imag else 1 for row in growing)
            if known is not None and known > seen:
                count = f"{known} roots grow, {seen} of them among those that were computed"
                return "unstable", f"{count}; a small disturbance doubles in {doubling} or sooner."
            return "unstable", f"{count}; a small disturbance doubles in {doubling}."
        if lin.stability == "asymptotic":
            slowest = max(row.root.real for row in self.rows if row.behaviour == DECAYS)
            return "stable", f"Small disturbances die out; the slowest halves in {seconds(-np.log(2.0) / slowest)}."
        if lin.stability.startswith(NOT_DETERMINED):
            reason = lin.stability.removeprefix(NOT_DETERMINED).lstrip(": ")
            return NOT_DETERMINED, f"{reason[:1].upper()}{reason[1:]}."
        if not self.counted:
            return "marginal", "Nothing can vibrate: no root says anything about stability."
        return "marginal", "No disturbance grows, but some do not die out either."

    @property
    def explanations(self) -> list[str]:
        """Why ignorable roots are ignorable, each reason once, with the number of roots."""
        return [
            f"{len(group.roots)} × {group.explanation}" if len(group.roots) > 1 else group.explanation
            for group in self.linearization.ignorable
        ]


def _conjugates(roots: Any) -> dict[int, int]:
    """For each root with a negative imaginary part the place of its conjugate."""
    size = float(np.abs(roots).max(initial=0.0))
    found: dict[int, int] = {}
    for k, root in enumerate(roots):
        if root.imag < 0.0:
            distance = np.abs(roots - np.conj(root))
            distance[list(found.values())] = np.inf
            other = int(np.argmin(distance))
            if other != k and distance[other] <= 1e-9 * size:
                found[k] = other
    return found


def what_moves(mode: Any, dimension: int = 3, brief: bool = False) -> str:
    """The bodies that move most in a mode, and how: "fork turns about z, frame moves along y", "a, b turn about x".

    `brief` leaves directions away that are not those of axes.
    """
    sizes: list[tuple[float, str, str]] = []
    for name, part in mode.shape.items():
        turn, shift = _real(part.rotation), _real(part.translation)
        turned, shifted = float(np.linalg.norm(turn)), float(np.linalg.norm(shift))
        if turned >= shifted:
            sizes.append((turned, name, _how("turns", "about", turn, brief) if dimension == 3 else "turns"))
        else:
            sizes.append((shifted, name, _how("moves", "along", shift[:dimension], brief)))
    largest = max((size for size, *_ in sizes), default=0.0)
    if largest == 0.0:
        return "states of force elements"
    sizes.sort(key=lambda entry: -round(entry[0] / largest, 6))  # what moves alike stays in the order of the model
    alike: dict[str, list[str]] = {}
    for size, name, how in sizes[:NAMED]:
        if size >= NOTICEABLE * largest:
            alike.setdefault(how, []).append(name)
    return ", ".join(f"{', '.join(names)} {_verb(how, len(names))}" for how, names in alike.items())


def _how(verb: str, preposition: str, vector: Any, brief: bool) -> str:
    where = _direction(vector)
    return verb if brief and where not in AXES else f"{verb} {preposition} {where}"


def _verb(how: str, count: int) -> str:
    """How one moves ("turns about z"), or several ("turn about z")."""
    verb, *rest = how.split(" ", 1)
    return " ".join([verb if count == 1 else verb.removesuffix("s"), *rest])


def _real(vector: Any) -> Any:
    """A complex vector at the instant at which it is largest."""
    largest = vector[np.argmax(np.abs(vector))]
    return (vector * np.conj(largest) / abs(largest)).real if largest else vector.real


def _direction(vector: Any) -> str:
    size = np.linalg.norm(vector)
    unit = vector / size if size else vector
    for axis, share in zip(AXES, np.abs(unit), strict=False):
        if share >= ALONG:
            return axis
    sign = -1.0 if unit[np.argmax(np.abs(unit))] < 0.0 else 1.0
    return "(" + ", ".join(f"{round(sign * x, 2) + 0.0:g}" for x in unit) + ")"


# --- numbers ----------------------------------------------------------------------------------------------------------


def seconds(value: float) -> str:
    """A duration with three digits: "0.42 s", "35 ms"."""
    if not np.isfinite(value):
        return "∞"
    if abs(value) < 0.1:
        return f"{1000.0 * value:.3g} ms"
    return f"{value:.3g} s" if abs(value) < 1000.0 else f"{value:.2e} s"


def root_text(row: Row) -> str:
    """An eigenvalue, a pair with ±."""
    root = row.root
    real = number(0.0 if row.behaviour == NEUTRAL else root.real)
    if row.pair:
        return f"{real} ± {number(abs(root.imag))} i"
    return real if root.imag == 0.0 else f"{real} {'+' if root.imag > 0 else '−'} {number(abs(root.imag))} i"


def number(value: float) -> str:
    """Five digits, with a true minus sign."""
    return f"{value + 0.0:.5g}".replace("-", "−")


def frequency_text(row: Row) -> str:
    return f"{row.mode.frequency:.4g} Hz" if row.mode.frequency else "–"


def damping_text(row: Row) -> str:
    ratio = 0.0 if row.behaviour == NEUTRAL else row.mode.damping_ratio
    return "–" if row.behaviour == IGNORABLE or not np.isfinite(ratio) else number(float(f"{ratio:.3g}"))


def time_text(row: Row) -> str:
    """The time constant; an arrow says that it is one of growth."""
    if row.behaviour in (IGNORABLE, NEUTRAL):
        return "–"
    duration = seconds(abs(row.mode.time_constant))
    return duration if row.behaviour == DECAYS else f"↑ {duration}"


def tooltip(row: Row) -> str:
    """All about a root, in lines."""
    lines = [f"λ = {root_text(row)} 1/s"]
    if row.behaviour == IGNORABLE:
        return "\n".join([*lines, f"says nothing about stability: {row.mode.explanation}"])
    if row.mode.frequency:
        lines.append(f"{row.mode.frequency:.4g} Hz, damping ratio {damping_text(row)}")
    if row.behaviour != NEUTRAL:
        word = "dies out" if row.behaviour == DECAYS else "grows"
        lines.append(f"{word} with a time constant of {seconds(abs(row.mode.time_constant))}")
    lines.append(row.moving)
    condition = "defective" if not np.isfinite(row.mode.condition) else f"{row.mode.condition:.3g}"
    lines.append(f"residual {row.mode.residual:.1e}, condition {condition}")
    return "\n".join(lines)


# --- printed ----------------------------------------------------------------------------------------------------------

VERDICTS = {"stable": "stable", "marginal": "marginally stable", "unstable": "unstable", NOT_DETERMINED: NOT_DETERMINED}
HEADINGS = ("root, 1/s", "frequency", "damping ratio", "time constant", "what moves")


def report(linearization: Any) -> str:
    """A linearization as text: a sentence that says whether it is stable, then a line for each root or pair of roots.

    Time constants of growth have an arrow. Roots that say nothing about stability come last, each reason once.
    """
    roots = Roots(linearization)
    word, sentence = roots.verdict
    count, free = len(linearization.eigenvalues), sum(len(group.roots) for group in linearization.ignorable)
    listed = f"{count} {'root' if count == 1 else 'roots'}" + (f", {free} of them of free motions" if free else "")
    lines = [f"{linearization.system.name!r} is {VERDICTS[word]}. {sentence} ({listed})"]
    cells = [
        (root_text(row), frequency_text(row), damping_text(row), time_text(row), row.moving)
        for row in roots.rows
        if row.behaviour != IGNORABLE
    ]
    if cells:
        *widths, _ = (max(map(len, column)) for column in zip(HEADINGS, *cells, strict=True))
        for *numbers, moving in (HEADINGS, *cells):
            aligned = (text.rjust(width) for text, width in zip(numbers, widths, strict=True))
            lines.append("  ".join(("", *aligned, moving)))
    lines += [f"  says nothing about stability: {reason}" for reason in roots.explanations]
    return "\n".join(lines)
