"""Flexible bodies say where their shapes cannot follow joints and forces, and nothing where they can."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.flexible.compliance import Compliance

LENGTH, MOMENT, YOUNG, ELEMENTS = 1.0, 8e-10, 2.1e11, 20
PART = mb.flexible.beam(
    length=LENGTH,
    elements=ELEMENTS,
    area=1e-4,
    second_moments=(MOMENT, 0.6 * MOMENT),
    torsion=1.5 * MOMENT,
    young=YOUNG,
    shear=8.1e10,
    density=7850.0,
)
FREE = mb.flexible.free_modes(PART, 20)
BARE = mb.flexible.craig_bampton(PART, [0, ELEMENTS], n_modes=0)
GOOD = [
    mb.flexible.craig_bampton(PART, [0, ELEMENTS], n_modes=4),
    BARE,
    mb.flexible.clamped_modes(PART, 0, 4),
    mb.flexible.residual_modes(FREE, np.hstack([PART.motion_at(k).toarray().T for k in (0, ELEMENTS)])),
]


def beam(modes: mb.flexible.Modes, at: float = LENGTH, right: Any = None, **values: Any) -> mb.System:
    system = mb.System("beam", gravity=(0, 0, 0))
    force = values.pop("force", (0.0, 0.0, -1.0))
    rod = system.add(mb.FlexibleBody("rod", modes, **values))
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
    if right is not None:
        system.add(right("head", system.ground, rod, at=(LENGTH, 0, 0)))
    system.add(mb.PointForce("load", rod, at=(at, 0, 0), force=force))
    return system


def said(system: mb.System, analysis: Any = mb.equilibrium) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        analysis(system)
    return [str(w.message) for w in caught if "cannot follow" in str(w.message)]


@pytest.mark.parametrize("frame", ["node", "mean"])
@pytest.mark.parametrize("stiffened", [False, True])
def test_free_modes_cannot_be_clamped(frame: str, stiffened: bool) -> None:
    """20 free modes give 0.883 of P L^3 / 3 E I, and the message says by how much they fall short."""
    (message,) = said(beam(FREE, frame=frame, geometric_stiffening=stiffened))
    system = beam(FREE, frame=frame)
    with pytest.warns(UserWarning, match="cannot follow"):
        state = mb.equilibrium(system)
    found = -state.position(system["rod"], local_point=LENGTH * np.eye(3)[0])[2] * 3.0 * YOUNG * MOMENT / LENGTH**3
    assert f"{100.0 * (1.0 - found):.3g} %" in message
    assert found == pytest.approx(0.883, abs=1e-3)
    for part in ("FlexibleBody 'rod'", "'wall'", "node 0", f"interfaces=[0, {ELEMENTS}]", "residual_modes"):
        assert part in message


def test_runs_say_it_too() -> None:
    with pytest.warns(UserWarning, match="cannot follow"):
        bent = mb.equilibrium(beam(FREE))
    warned = mb.simulate(beam(FREE), 1e-3, initial=bent, t_eval=[0.0, 1e-3]).info.warnings
    assert [w for w in warned if "cannot follow" in w]


@pytest.mark.parametrize("right", [mb.FixedJoint, mb.SphericalJoint])
def test_a_load_between_interfaces(right: type[mb.Joint]) -> None:
    """Held at both ends, without vibrations within, at mid-span: P L^3 / 192 E I and 7 P L^3 / 768 E I.

    Shapes of the ends alone leave out the first, which is all of the one, and 4 / 7 of the other.
    """
    (message,) = said(beam(BARE, 0.5 * LENGTH, right))
    assert ("100 %" if right is mb.FixedJoint else "57.1 %") in message
    assert "'load'" in message
    assert f"interfaces=[0, {ELEMENTS // 2}, {ELEMENTS}]" in message
    middle = mb.flexible.craig_bampton(PART, [0, ELEMENTS // 2, ELEMENTS], n_modes=0)
    assert not said(beam(middle, 0.5 * LENGTH, right))


@pytest.mark.parametrize("modes", GOOD, ids=["craig_bampton", "interfaces only", "clamped", "residual"])
def test_good_shapes_say_nothing(modes: mb.flexible.Modes) -> None:
    assert not said(beam(modes))
    assert not said(beam(modes, force=(0.0, 0.0, 0.0)), mb.linearize)


def test_frequencies_without_loads() -> None:
    """20 free modes, clamped: the first frequency is 7.9 % too high; nothing acts in the state itself."""
    (message,) = said(beam(FREE, force=(0.0, 0.0, 0.0)), mb.linearize)
    assert "as it vibrates" in message
    assert "'wall'" in message


def test_a_rod_may_be_rigid_along_itself() -> None:
    """Shapes of bending leave out what a load along it does, which is 1e-4 of what it would do across."""
    assert not said(beam(mb.flexible.clamped_modes(PART, 0, 4), force=(1.0, 0.0, 0.0)))


def test_shapes_of_the_other_plane() -> None:
    """Only those that bend along y, under a load along z."""
    modes = mb.flexible.clamped_modes(PART, 0, 4)
    across = np.abs(modes.translations).max(axis=0)
    shapes = modes.shapes[:, across[1] > across[2]]
    only = mb.flexible.user_modes(PART, shapes, [0])
    (message,) = said(beam(only, frame="node"))
    assert "100 %" in message
    assert not said(beam(only, frame="node", force=(0.0, 1.0, 0.0)))


def test_compliance_is_that_of_the_beam() -> None:
    """Forces and moments in balance bend it as a cantilever; all shapes together miss nothing."""
    everything = mb.flexible.free_modes(PART, PART.n_freedoms - 6)
    found = Compliance.of(everything, (0, ELEMENTS))
    assert found is not None
    load = np.zeros(12)
    load[[2, 8]], load[4] = (1.0, -1.0), -LENGTH
    assert load @ found.whole @ load == pytest.approx(LENGTH**3 / 3.0 / YOUNG / MOMENT, rel=1e-8)
    assert np.abs(found.missed).max() < 1e-8 * np.abs(found.whole).max()


def test_models_from_files_say_the_same(tmp_path: Any) -> None:
    mb.save(beam(FREE), tmp_path / "beam.json")
    assert said(mb.load(tmp_path / "beam.json")) == said(beam(FREE))
