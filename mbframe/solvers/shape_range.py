"""Whether the shapes of flexible bodies can follow the loads that joints and force elements put on them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from ..equations.equations import Equations
from ..equations.marker_loads import Solved
from ..equations.numbered import NumberedBody
from ..errors import MbframeError
from ..flexible import Modes
from ..flexible.compliance import Compliance
from ..markers import AxisMarker

Array = NDArray[np.float64]

MISSED = 0.05  # of the energy of deformation, and of the deflection under one load: a frequency is off by 2.5 %
RIGID = 0.02  # of the energy of loads as large in the softest direction: what is so much stiffer may be rigid
NOTHING = 1e-12  # of the body's extent: a deflection that is rounding


def missed_remarks(
    eq: Equations, bodies: Sequence[NumberedBody], t: Array, y: Array, solved: Solved, when: str = " at t = {:.6g} s"
) -> list[str]:
    """Warnings of bodies whose shapes cannot follow what loads at their markers do to them in some of n states.

    See `Compliance`. Of a slender rod shapes of bending leave out all of what loads along it do, which is next to
    nothing beside bending: a body may be rigid where it is much stiffer than in its softest direction. Parts are
    those of the largest deformation energy. Bodies on which something slides are left out: what is there is pressed
    between nodes, in shapes of its own. `when` says of the worst instant when it is.
    """
    found = []
    for b in bodies:
        body = cast(FlexibleBody, b.body)
        if any(isinstance(marker, AxisMarker) for marker in b.markers):
            continue
        loads, nodes = _local(eq, b, y, solved)
        places = np.unique(nodes)
        together = np.stack([loads[:, nodes == place].sum(axis=1) for place in places], 1) if len(places) else loads
        with suppress(MbframeError):  # a component that cannot be solved without supports
            if not len(places) or (compliance := Compliance.of(body.shapes_in_frame, tuple(places.tolist()))) is None:
                continue
            shares = _shares(together, compliance, NOTHING * body.modes.component.extent)
            worst = int(shares.argmax())
            if not shares[worst] > MISSED:
                continue
            flat = together[worst].ravel()
            lacking = int((flat * (compliance.missed @ flat)).reshape(-1, 6).sum(axis=1).argmax())
            names = _elements(eq, b, nodes == places[lacking])
            found.append(
                f"the shapes of {body} cannot follow the loads on it{when.format(t[worst])}, most of all those of "
                f"{names} at its node {places[lacking]}: they leave out {100.0 * shares[worst]:.3g} % of the "
                f"deformation that its finite elements have under them; {_remedy(body.modes, places.tolist())}"
            )
    return found


def _remedy(modes: Modes, places: list[int]) -> str:
    """How to get shapes that follow loads at some places."""
    if modes.method == "craig_bampton" and set(places) <= set(modes.interfaces):
        return "attach at interface points (with_interface), which carry torques as well, and make them for these"
    listed = ", ".join(map(str, sorted({*modes.interfaces, *places})))
    return f"make them by craig_bampton with interfaces=[{listed}], or add residual_modes for these loads"


def _elements(eq: Equations, b: NumberedBody, here: NDArray[np.bool_]) -> str:
    """The names of what acts at some of the markers of a body."""
    numbers = set((b.first_marker + np.flatnonzero(here)).tolist())
    names = [c.owner_name for c in eq.tables.constraints if numbers & {c.i, c.j}]
    names += [f.name for f in eq.tables.forces if numbers & {f.i, f.j}]
    return ", ".join(map(repr, dict.fromkeys(names)))


def _local(eq: Equations, b: NumberedBody, y: Array, solved: Solved) -> tuple[Array, NDArray[np.intp]]:
    """(n, markers, 6): force and torque on the markers of a body, in its axes; (markers,): at which of its nodes."""
    _, rotation = b.formulation.poses(eq.split(y)[0][:, b.q_slice])
    own = slice(b.first_marker, b.first_marker + len(b.markers))
    loads = solved.loads[:, own].reshape(len(y), -1, 2, 3) @ rotation[:, None]
    nodes = [cast(FlexibleBody, b.body).node_at(marker.at) for marker in b.markers]
    return loads.reshape(len(y), -1, 6), np.array(nodes, np.intp)


def _shares(loads: Array, compliance: Compliance, nothing: float) -> Array:
    """(n,): what shapes leave out under loads (n, k, 6), relative to the largest energy; zero where it is no matter."""
    flat = loads.reshape(len(loads), -1)
    moved = (flat @ compliance.whole).reshape(loads.shape)
    energy = np.sum(loads * moved, axis=(1, 2))
    sizes = np.sum(loads.reshape(*loads.shape[:2], 2, 3) ** 2, axis=3)
    counts = energy > RIGID * np.sum(sizes * compliance.softest(), axis=(1, 2))
    counts &= np.abs(moved[:, :, :3]).max(axis=(1, 2), initial=0.0) > nothing
    missed = np.sum(flat * (flat @ compliance.missed), axis=1)
    return np.asarray(np.where(counts, missed, 0.0) / max(energy[counts].max(initial=0.0), np.finfo(float).tiny))
