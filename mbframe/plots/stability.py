"""Roots over a parameter and in the complex plane, stability maps, sensitivities, growing disturbances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .style import Plot, draw, figure, legend, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..analysis.linear.perturbation import PerturbedMotion
    from ..analysis.parameters.critical import CriticalValue
    from ..analysis.parameters.root_locus import RootLocus
    from ..analysis.parameters.sensitivity import Sensitivity
    from ..analysis.parameters.stability_map import StabilityMap

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

REAL, IMAGINARY = "real part (1/s)", "imaginary part (rad/s)"
ARROW = 0.12  # length of the longest arrow, relative to the size of the picture


def root_locus_over_values(
    locus: RootLocus, critical: Sequence[CriticalValue], label: str, title: str | None, theme: str
) -> Plot:
    """Real and imaginary parts over the parameter; where the system is stable the ground is coloured."""
    picture, panels = figure(
        [REAL, IMAGINARY], title=title or "Root locus", x_label=label, theme=theme, heights=(1.5, 1.0)
    )
    for axes, part in zip(panels, ("real", "imag"), strict=True):
        _mark_stable(axes, locus)
        axes.axhline(0.0, color=theme_of(axes).text, linewidth=0.8)
        for number, branch in enumerate(_half(locus)):
            draw(axes, locus.values, getattr(branch, part), number, label=f"branch {number + 1}")
        for found in critical:
            axes.axvline(found.value, color=theme_of(axes).text, linewidth=1.0, linestyle=":")
            axes.plot(found.value, getattr(found.eigenvalue, part), "D", color=theme_of(axes).text, markersize=5)
    for found in critical:
        words = f"{found.kind}, {found.value:.6g}"
        panels[0].plot([], [], "D:", color=theme_of(panels[0]).text, markersize=5, linewidth=1.0, label=words)
    legend(panels[0])
    return picture


def root_locus_plane(
    locus: RootLocus, critical: Sequence[CriticalValue], label: str, title: str | None, theme: str
) -> Plot:
    """The branches in the complex plane; a circle where each begins and a dot where it ends."""
    words = title or f"Root locus, {label} from {locus.values[0]:g} (circle) to {locus.values[-1]:g} (dot)"
    picture, (axes,) = figure([IMAGINARY], title=words, x_label=REAL, theme=theme, size=(7.5, 6.0))
    _cross(axes)
    for number, branch in enumerate(locus.eigenvalues.T):
        line = draw(axes, branch.real, branch.imag, number)
        ends = branch[np.isfinite(branch)][[0, -1]]
        for end, fill in zip(ends, (theme_of(axes).background, line.get_color()), strict=True):
            axes.plot(end.real, end.imag, "o", markersize=6, color=line.get_color(), markerfacecolor=fill)
    for found in critical:
        ends = {found.eigenvalue.imag, -found.eigenvalue.imag}
        words = f"{found.kind}, {found.value:.6g}"
        axes.plot([0.0] * len(ends), sorted(ends), "D", color=theme_of(axes).text, markersize=5, label=words)
    if critical:
        legend(axes)
    return picture


def stability_map_plot(found: StabilityMap, labels: tuple[str, str], title: str | None, theme: str) -> Plot:
    """The largest real part over two parameters, white at zero, and the boundary of stability."""
    picture, (axes,) = figure([labels[1]], title=title or "Stability", x_label=labels[0], theme=theme, size=(8.0, 6.0))
    # Half of the points decide on the colours, so that a few large roots do not bleach the rest.
    size = 2.0 * float(np.nanmedian(np.abs(found.growth))) or 1.0
    grid = found.values_1, found.values_2
    colors = axes.pcolormesh(*grid, found.growth.T, cmap="RdBu_r", vmin=-size, vmax=size, shading="nearest")
    bar = picture.colorbar(colors, ax=axes, extend="both")
    bar.set_label("largest real part of a root (1/s)", color=theme_of(axes).text)
    bar.ax.tick_params(colors=theme_of(axes).text)
    if found.stable.any() and (found.unstable > 0).any() and min(found.growth.shape) > 1:
        # Where nothing is damped the growth is zero all over the stable part, and its edge is no crossing of zero.
        sharp = (found.growth < 0.0).any()
        levels = found.growth if sharp else np.where(found.stable, 0.0, 1.0)
        axes.contour(*grid, levels.T, levels=[0.0 if sharp else 0.5], colors=["#111111"], linewidths=1.5)
    axes.grid(False)
    return picture


def sensitivity_plot(found: Sensitivity, title: str | None, theme: str) -> Plot:
    """The roots, and arrows along their derivatives; for a vector one arrow for each component."""
    words = title or f"Roots as {found.name} grows"
    picture, (axes,) = figure([IMAGINARY], title=words, x_label=REAL, theme=theme, size=(7.5, 6.0))
    _cross(axes)
    roots = found.eigenvalues
    axes.plot(roots.real, roots.imag, "x", color=theme_of(axes).text, markersize=7)
    columns = found.derivatives.reshape(len(roots), -1)
    extent = max(np.ptp(roots.real), np.ptp(roots.imag), 1e-12)
    scale = ARROW * extent / (float(np.nanmax(np.abs(columns))) or 1.0)
    places = list(np.ndindex(found.derivatives.shape[1:]))
    drawn: list[Complex] = []
    for place, column in zip(places, columns.T, strict=True):
        moved = np.abs(column) * scale > 1e-6 * ARROW * extent
        if not moved.any() or any(np.array_equal(column, other) for other in drawn):
            continue  # a component without influence, or the other one of a symmetric tensor
        start, step = roots[moved], scale * column[moved]
        color = theme_of(axes).lines[len(drawn) % len(theme_of(axes).lines)]
        parts = (start.real, start.imag, step.real, step.imag)
        axes.quiver(*parts, color=color, angles="xy", scale_units="xy", scale=1.0, width=0.006)
        axes.plot([], [], color=color, linewidth=3.0, label=f"component {', '.join(str(k + 1) for k in place)}")
        drawn.append(column)
    if len(places) > 1:
        legend(axes)
    axes.margins(0.2)
    return picture


def perturbation_plot(found: PerturbedMotion, title: str | None, theme: str) -> Plot:
    """Size and real part of the amplitude, simulated and predicted."""
    words = title or f"Disturbance: root {found.eigenvalue:.6g}, simulation {found.measured:.6g}"
    picture, (size, swing) = figure(["size of the disturbance", "disturbance"], title=words, theme=theme)
    predicted = found.amplitude[0] * np.exp(found.eigenvalue * found.t)
    for axes, part in ((size, np.abs), (swing, np.real)):
        draw(axes, found.t, part(found.amplitude), 0, label="simulation")
        draw(axes, found.t, part(predicted), 1, linestyle="--", label="root")
    size.set_yscale("log")
    legend(size)
    return picture


def _half(locus: RootLocus) -> list[Complex]:
    """The branches without those that are the conjugates of others throughout."""
    kept: list[Complex] = []
    for branch in locus.eigenvalues.T:
        if not any(
            np.allclose(branch.conj(), other, rtol=1e-6, equal_nan=True) and branch.imag.any() for other in kept
        ):
            kept.append(branch)
    return kept


def _mark_stable(axes: Axes, locus: RootLocus) -> None:
    """Colour the ground between neighbouring values at which the system is stable."""
    values, stable = locus.values, locus.stable
    both = stable[:-1] & stable[1:]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], both, [False]]).astype(int)))
    for begin, end in edges.reshape(-1, 2):
        axes.axvspan(values[begin], values[end], color=theme_of(axes).lines[2], alpha=0.12, linewidth=0.0)


def _cross(axes: Axes) -> None:
    """The axes of the complex plane."""
    axes.axhline(0.0, color=theme_of(axes).text, linewidth=0.8)
    axes.axvline(0.0, color=theme_of(axes).text, linewidth=0.8)
    axes.margins(0.05)
