"""What a component yields to loads at some of its places, and what of it some shapes cannot follow."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .modes import Modes, floating

Array = NDArray[np.float64]

_known: WeakKeyDictionary[Modes, dict[tuple[int, ...], Compliance]] = WeakKeyDictionary()


class Compliance(NamedTuple):
    r"""The flexibility of a floating component at k places, and the part of it that is not in its shapes.

    Loads f (6 k: force and torque at each place, in component axes) are balanced by the inertia of the rigid body, so
    that it needs no support: weight and accelerations are among what balances them. They deform it by C f at these
    places with the energy f^T C f / 2; its shapes follow by C_m f, with C_m = \psi (\phi^T K \phi)^{-1} \psi^T.
    Shapes are a Ritz basis, so that the part f^T (C - C_m) f / f^T C f of the energy is missing; under one load this is
    the missing part of its deflection.

    whole, missed
        (6 k, 6 k): C and C - C_m.
    """

    whole: Array
    missed: Array

    @classmethod
    def of(cls, modes: Modes, places: tuple[int, ...]) -> Compliance | None:
        """That of some modes at some places, computed once; None where statics is exact.

        It is under loads at the interfaces of `craig_bampton`, whose vibrations have to follow the inertia within: for
        what these miss, loads are balanced at the first of them. Nodes of three freedoms are not held against torques.
        """
        known, part = _known.setdefault(modes, {}), modes.component
        held = [k for k in modes.interfaces if part.freedoms_per_node == 6 or k >= len(part.nodes)]
        held = held if modes.method == "craig_bampton" else []
        if held and set(places) <= set(held):
            return None
        if places not in known:
            loads = np.hstack([part.motion_at(place).toarray().T for place in places])
            left = loads
            if held:
                left = loads - part.motion_at(held[0]).T @ (part.rigid_modes(part.positions[held[0]]).T @ loads)
            moved = floating(part).displacement(np.hstack([loads, left]))
            seen = modes.relative_to("mean")
            psi = left.T @ seen.shapes
            missed = left.T @ moved[:, loads.shape[1] :] - psi @ linalg.solve(seen.stiffness, psi.T, assume_a="pos")
            whole = loads.T @ moved[:, : loads.shape[1]]
            known[places] = cls(0.5 * (whole + whole.T), 0.5 * (missed + missed.T))
        return known[places]

    def softest(self) -> Array:
        """(k, 2): the largest deflection for a unit force, and the largest turn for a unit torque, at each place."""
        count = len(self.whole) // 6
        blocks = np.stack([self.whole[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] for k in range(count)])
        return np.stack([np.linalg.eigvalsh(blocks[:, part, part])[:, -1] for part in (slice(3), slice(3, 6))], axis=1)
