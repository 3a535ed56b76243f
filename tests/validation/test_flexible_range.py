"""Flexible bodies say where a motion or a state leaves the range of their theory: loads along them, deflections."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import mbframe as mb
from mbframe.analysis.states.range_warnings import lacking_shapes
from mbframe.equations.equations import Equations
from mbframe.equations.marker_loads import marker_loads
from mbframe.solvers.flexible_range import flexible_bodies
from mbframe.solvers.starting import rigid_lines

LENGTH, AREA, MOMENT, YOUNG, DENSITY = 1.0, 1e-4, 8e-10, 2.1e11, 7850.0
RIGIDITY, LINE = YOUNG * MOMENT, DENSITY * AREA
EULER = np.pi**2 * RIGIDITY / LENGTH**2
X, Y, Z = np.eye(3)
PART = mb.flexible.beam(
    length=LENGTH,
    elements=8,
    area=AREA,
    second_moments=(MOMENT, MOMENT),
    torsion=2 * MOMENT,
    young=YOUNG,
    shear=8.1e10,
    density=DENSITY,
)
CLAMPED = mb.flexible.clamped_modes(PART, node=0, n_modes=8)
BETWEEN = mb.flexible.craig_bampton(PART, interfaces=[0, 8], n_modes=4)


def cantilever(force: np.ndarray, modes: mb.flexible.Modes = BETWEEN, **values: Any) -> mb.System:
    system = mb.System("cantilever", gravity=values.pop("gravity", (0, 0, 0)))
    rod = system.add(mb.FlexibleBody("rod", modes, **({"frame": "node"} | values)))
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
    system.add(mb.PointForce("load", rod, at=LENGTH * X, force=tuple(force)))
    return system


def said(system: mb.System, analysis: Any = mb.equilibrium) -> list[str]:
    """What an analysis warns of, through Python's warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        analysis(system)
    return [str(w.message) for w in caught if w.category is UserWarning]


# --- loads along the body: a tenth of the stiffness ------------------------------------------------------------------


@pytest.mark.parametrize("frame", ["node", "mean"])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_load_at_the_end_of_a_cantilever(sign: float, frame: str) -> None:
    """The share of the stiffness is that of Euler's load, pi^2 E I / 4 L^2, whatever the frame is."""
    assert not said(cantilever(sign * 0.095 * EULER / 4 * X, frame=frame))
    (message,) = said(cantilever(sign * 0.105 * EULER / 4 * X, frame=frame))
    assert "FlexibleBody 'rod'" in message
    assert "by 10.5 %" in message
    assert ("may buckle" if sign < 0 else "stiffer") in message
    assert "geometric_stiffening=True" in message
    assert not said(cantilever(sign * 0.105 * EULER / 4 * X, geometric_stiffening=True))


def pinned(share: float, frame: str) -> mb.System:
    """Between hinges."""
    system = mb.System("strut", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", BETWEEN, frame=frame))
    system.add(mb.RevoluteJoint("foot", system.ground, rod, at=(0, 0, 0), axis=Y))
    system.add(mb.PointOnLineJoint("head", system.ground, rod, at=LENGTH * X, axis=X))
    system.add(mb.PointForce("load", rod, at=LENGTH * X, force=-share * EULER * X))
    return system


@pytest.mark.parametrize("frame", ["node", "mean"])
def test_a_strut_between_hinges(frame: str) -> None:
    assert not said(pinned(0.097, frame))
    (message,) = said(pinned(0.103, frame))
    assert "press it" in message
    assert "by 10.3 %" in message


@pytest.mark.parametrize(("held", "times"), [("clamped", 4.0), ("pinned", 2.0457)])
def test_columns_that_are_held_at_both_ends(held: str, times: float) -> None:
    """Euler's load of a column that is clamped at its foot, and at its head clamped but for its way, or pinned."""

    def column(share: float) -> mb.System:
        system = cantilever(
            -share * times * EULER * X, mb.flexible.craig_bampton(PART, interfaces=[0, 4, 8], n_modes=8)
        )
        joint = mb.TranslationalJoint if held == "clamped" else mb.PointOnLineJoint
        system.add(joint("head", system.ground, system["rod"], at=LENGTH * X, axis=X))
        return system

    assert not said(column(0.097))
    (message,) = said(column(0.103))
    assert "by 10.3 %" in message


def test_a_mass_that_is_fixed_to_the_end_does_not_hold_it() -> None:
    """What a body is joined to moves with it as its own joints let it."""
    system = cantilever(np.zeros(3))
    tip = system.add(mb.RigidBody("tip", mass=0.5, inertia=(1e-4, 1e-4, 1e-4), position=LENGTH * X))
    system.add(mb.FixedJoint("weld", system["rod"], tip, at=LENGTH * X))
    system.add(mb.PointForce("push", tip, at=LENGTH * X, force=-0.105 * EULER / 4 * X))
    (message,) = said(system)
    assert "by 10.5 %" in message


@pytest.mark.parametrize("kind", ["beam", "solid"])
def test_a_column_held_at_its_middle(kind: str) -> None:
    """Two forces in one direction press one half and pull the other by as much; each half is a cantilever of L / 2.

    Symmetric and antisymmetric shapes are coupled then as bending and twist are by a load across a girder: that no
    shape by itself becomes softer does not mean that nothing does.
    """
    if kind == "beam":
        modes = mb.flexible.craig_bampton(PART, interfaces=[0, 4, 8], n_modes=4)
        critical = EULER
    else:
        skfem = pytest.importorskip("skfem")
        lines = [np.linspace(0.0, LENGTH, 21), np.linspace(-0.01, 0.01, 2), np.linspace(-0.01, 0.01, 2)]
        mesh = skfem.MeshHex.init_tensor(*lines)
        part = mb.flexible.solid(mesh, young=YOUNG, poisson=0.0, density=DENSITY, order=2)
        for x in (0.0, 0.5, 1.0):
            part = part.with_interface(np.flatnonzero(np.abs(part.nodes[:, 0] - x) < 1e-9))
        modes = mb.flexible.craig_bampton(part, interfaces=range(len(part.nodes), len(part.nodes) + 3), n_modes=4)
        critical = np.pi**2 * YOUNG * 0.02**4 / 12.0 / LENGTH**2

    def column(share: float) -> mb.System:
        system = mb.System("column", gravity=(0, 0, 0))
        rod = system.add(mb.FlexibleBody("rod", modes, frame="mean"))
        system.add(mb.FixedJoint("wall", system.ground, rod, at=(0.5, 0, 0)))
        for x in (0.0, LENGTH):
            system.add(mb.PointForce(f"load at {x}", rod, at=(x, 0, 0), force=-share * critical * X))
        return system

    assert not said(column(0.097))
    (message,) = said(column(0.103))
    assert "press it" in message
    assert "by 10.3" in message


def test_a_beam_that_spins_freely_is_pulled() -> None:
    """The tension at x from the middle is rho A w^2 (L^2/4 - x^2) / 2."""
    modes = mb.flexible.free_modes(PART, n_modes=6)
    middles = (np.arange(8) + 0.5) / 8 * LENGTH
    tension = 0.5 * LINE * (LENGTH**2 / 4 - (middles - LENGTH / 2) ** 2 - (LENGTH / 8) ** 2 / 12)  # means of elements
    added = modes.shapes.T @ (PART.geometric_stiffness(tension) @ modes.shapes)
    share = scipy.linalg.eigh(added, modes.stiffness, eigvals_only=True)[-1]

    def spun(part: float) -> list[str]:
        system = mb.System("baton", gravity=(0, 0, 0))
        system.add(mb.FlexibleBody("rod", modes, angular_velocity=np.sqrt(part / share) * Z))
        return mb.simulate(system, 1e-4, t_eval=[0.0, 1e-4]).info.warnings

    assert not spun(0.09)
    (message,) = spun(0.11)
    assert "pull it" in message
    assert "by 11" in message


@pytest.mark.parametrize("frame", ["node", "mean"])
def test_ends_that_cannot_come_nearer(frame: str) -> None:
    """Clamped at both ends with a load F in the middle: tension adds (w / r)^2 of stiffness by and large, r^2 = I/A.

    With one shape, w(x) = W (1 - cos 2 pi x / L) / 2, the tension is E A pi^2 W^2 / 4 L^2, of Euler's 4 pi^2 E I / L^2
    a share W^2 / 16 r^2; W = F L^3 / 192 E I.
    """

    def beam(share: float, slides: bool = False) -> mb.System:
        deflection = np.sqrt(16.0 * share * MOMENT / AREA)
        system = mb.System("beam", gravity=(0, 0, 0))
        modes = mb.flexible.craig_bampton(PART, interfaces=[0, 4, 8], n_modes=6)
        rod = system.add(mb.FlexibleBody("rod", modes, frame=frame))
        system.add(mb.FixedJoint("left", system.ground, rod, at=(0, 0, 0)))
        joint = mb.TranslationalJoint if slides else mb.FixedJoint
        system.add(joint("right", system.ground, rod, at=LENGTH * X, **({"axis": X} if slides else {})))
        force = -deflection * 192.0 * RIGIDITY / LENGTH**3
        system.add(mb.PointForce("load", rod, at=0.5 * X, force=force * Z))
        return system

    assert not said(beam(0.09))
    assert not said(beam(0.11, slides=True))
    (message,) = said(beam(0.115))
    assert "keep its nodes from coming nearer" in message
    assert "geometric_stiffening=True" in message


def test_a_load_across_a_strip_tips_it() -> None:
    """A narrow cantilever tips under 4.013 sqrt(E I G J) / L^2 at its end; a share s of it costs s^2 of stiffness."""
    soft, torsion = MOMENT / 100, 4 * MOMENT / 100
    part = mb.flexible.beam(
        length=LENGTH,
        elements=8,
        area=AREA,
        second_moments=(MOMENT, soft),
        torsion=torsion,
        young=YOUNG,
        shear=8.1e10,
        density=DENSITY,
    )
    modes = mb.flexible.craig_bampton(part, interfaces=[0, 2, 4, 6, 8], n_modes=4)
    critical = 4.013 * np.sqrt(YOUNG * soft * 8.1e10 * torsion) / LENGTH**2
    assert not said(cantilever(-0.31 * critical * Z, modes))
    (message,) = said(cantilever(-0.335 * critical * Z, modes))
    assert "loads across it" in message
    assert "tip sideways" in message
    assert "geometric_stiffening=True" in message


def test_the_largest_load_is_named() -> None:
    """A blade on a hub is pressed a little at the start and pulled by far more later."""
    body = mb.FlexibleBody("rod", BETWEEN)
    message = body.load_remark(np.array([-0.103, 0.68, 0.0]), np.array([0.0, 0.02, 0.0]))
    assert "pull it" in message
    assert "at t = 0.02 s by 68 %" in message
    assert not body.load_remark(np.array([-0.09, 0.08, 0.3]), np.zeros(3))


def test_a_short_load_is_not_missed() -> None:
    """A pulse of 2 ms in a run of 1 s with a thousand stored instants presses a column that has no shape along it."""
    system = cantilever(np.zeros(3), CLAMPED)
    peak = 0.2 * EULER / 4
    pulse = mb.Function.piecewise_linear([0.0, 0.5021, 0.5031, 0.5041, 1.0], [0.0, 0.0, -peak, 0.0, 0.0])
    system.add(mb.PointForce("pulse", system["rod"], at=LENGTH * X, force=(pulse, 0.0, 0.0)))
    found = mb.simulate(system, 1.0, t_eval=np.linspace(0.0, 1.0, 1001)).info.warnings
    assert any("press it" in message and "at t = 0.5031 s by 20 %" in message for message in found)


@pytest.mark.parametrize("analysis", [mb.linearize, lambda system: mb.steady(system, axis=Z, rate=0.0)])
def test_other_analyses(analysis: Any) -> None:
    """Of a beam without axial shapes, whose described state is in balance."""
    for share, expected in ((0.09, 0), (0.11, 1)):
        assert len(said(cantilever(-share * EULER / 4 * X, CLAMPED), analysis)) == expected


@pytest.mark.parametrize(("share", "expected"), [(0.09, 0), (0.11, 1)])
@pytest.mark.parametrize("load", ["force", "gravity", "acceleration"])
def test_runs(load: str, share: float, expected: int) -> None:
    """A force at the end, the weight (buckling at 7.837 E I / L^2), and a cart that accelerates the beam as much."""
    heavy = -share * 7.8373 * RIGIDITY / LINE / LENGTH**3
    if load == "force":
        system = cantilever(-share * EULER / 4 * X, CLAMPED)
    elif load == "gravity":
        system = cantilever(np.zeros(3), CLAMPED, gravity=heavy * X)
    else:
        system = mb.System("cart", gravity=(0, 0, 0))
        cart = system.add(mb.RigidBody("cart", mass=2.0, inertia=(1.0, 1.0, 1.0)))
        system.add(mb.TranslationalJoint("rails", system.ground, cart, at=(0, 0, 0), axis=X))
        rod = system.add(mb.FlexibleBody("rod", CLAMPED))
        system.add(mb.FixedJoint("clamp", cart, rod, at=(0, 0, 0)))
        system.add(mb.PointForce("thrust", cart, at=(0, 0, 0), force=-heavy * (2.0 + LINE * LENGTH) * X))
    found = mb.simulate(system, 1e-3, t_eval=[0.0, 1e-3]).info.warnings
    assert len(found) == expected
    assert all("press it" in message and "at t = " in message for message in found)


def test_loads_come_from_what_the_solver_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reactions on a girder, a trolley's among them, without derivatives of joints that are computed in Python."""
    result = mb.simulate(mb.examples.crane_trolley(), 0.5, dt=1e-3)
    eq = Equations(result.system, None)
    ((b, _),) = flexible_bodies(eq)
    t, y = result.spread(7)
    y = y[:, : eq.n_q + eq.n_v]  # without the work of the winch
    wanted = [result.reaction(joint) for joint in ("support", "roller")]
    monkeypatch.setattr(type(eq.stages), "gradient", None)
    found = marker_loads(eq, t, y, [b])
    assert found.numbers.tolist() == list(range(len(t)))
    at = np.searchsorted(result.t, t)
    for joint, reaction in zip(("support", "roller"), wanted, strict=True):
        number = eq.tables.place(result.system[joint].j)
        loads = np.hstack([reaction.force[at], reaction.torque[at]])
        np.testing.assert_allclose(found.loads[:, number], loads, atol=1e-9 * np.abs(loads).max())
        assert np.abs(loads).max() > 100.0


# --- size of deflections ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stiffening", "inside", "beyond"),
    [(False, 0.27, 0.29), (True, 1.3, 1.45)],
    ids=["linear", "stiffened"],
)
def test_deflections(stiffening: bool, inside: float, beyond: float) -> None:
    """P L^2 / E I of a dead load across the end; a linear cantilever has the slope P L^2 / 2 E I there: 0.14 rad."""

    def bent(load: float) -> mb.System:
        return cantilever(-load * RIGIDITY / LENGTH**2 * Z, geometric_stiffening=stiffening)

    assert not said(bent(inside))
    messages = said(bent(beyond))
    assert len(messages) == 1
    assert "FlexibleBody 'rod' is bent by up to" in messages[0]
    assert ("third order" if stiffening else "geometric_stiffening=True") in messages[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        states = [mb.equilibrium(bent(load)) for load in (inside, beyond)]
    runs = [mb.simulate(bent(load), 1e-5, initial=s) for load, s in zip((inside, beyond), states, strict=True)]
    assert not runs[0].info.warnings
    assert [w for w in runs[1].info.warnings if "is bent by up to" in w]


@pytest.mark.parametrize(("load", "stiffening"), [(0.28, False), (1.35, True)])
def test_at_the_limit_the_deflection_is_off_by_about_a_percent(load: float, stiffening: bool) -> None:
    """Against the elastica y'' = -p cos y of the angle y, y(0) = y'(1) = 0; it goes down by the integral of sin y."""
    from scipy.integrate import solve_bvp

    exact = solve_bvp(
        lambda s, y: np.array([y[1], -load * np.cos(y[0]), np.sin(y[0])]),
        lambda a, b: np.array([a[0], b[1], a[2]]),
        np.linspace(0.0, 1.0, 41),
        np.zeros((3, 41)),
        tol=1e-8,
    ).y[2, -1]
    system = cantilever(-load * RIGIDITY / LENGTH**2 * Z, geometric_stiffening=stiffening)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state = mb.equilibrium(system)
    down = mb.evaluate(system, state).position("rod", local_point=LENGTH * X)[0, 2] / LENGTH
    assert 0.005 < abs(down / -abs(exact) - 1.0) < 0.015


@pytest.mark.parametrize("frame", ["node", "mean"])
def test_equilibria_of_bodies_that_only_deform_are_balanced(frame: str) -> None:
    """A spring along the beam that stiffens with the square of the deflection: one linear step is not enough."""
    system = cantilever(-0.1 * RIGIDITY / LENGTH**2 * Z, frame=frame)
    spring = {"at_i": (LENGTH, 0.1, 0.0), "at_j": (LENGTH, 0.0, 0.0), "stiffness": 1e3, "free_length": 0.1}
    system.add(mb.SpringDamper("spring", system.ground, system["rod"], **spring))
    state = mb.equilibrium(system)
    assert state.residual < 1e-10
    started = mb.evaluate(system, state)
    assert np.abs(started.acceleration("rod", local_point=LENGTH * X)).max() < 1e-6


@pytest.mark.filterwarnings("ignore:FlexibleBody 'rod' is bent")
def test_statics_needs_no_inertia() -> None:
    """All shapes seen from a node: bent by 0.25 rad the body has no inertia of second order left in some motion."""
    system = cantilever(0.5 * RIGIDITY / LENGTH**2 * Z, mb.flexible.free_modes(PART, n_modes=PART.n_freedoms - 6))
    state = mb.equilibrium(system)
    assert state.position(system["rod"], local_point=LENGTH * X)[2] == pytest.approx(0.5 / 3, rel=1e-6)


@pytest.mark.parametrize("joint", ["hinge", "clamp"])
@pytest.mark.parametrize("kind", ["craig_bampton", "clamped"])
@pytest.mark.filterwarnings("ignore:FlexibleBody 'rotor' is deformed so far")
def test_an_overhung_rotor_sags(kind: str, joint: str) -> None:
    """A disk of 10 kg in the mass matrix, in the frame of the other end: m g L^3 / 3 E I + q L^4 / 8 E I."""
    length, diameter, mass, n = 0.6, 0.02, 10.0, 6
    area, moment = np.pi * diameter**2 / 4, np.pi * diameter**4 / 64
    values = {"area": area, "second_moments": (moment, moment), "torsion": 2 * moment}
    part = mb.flexible.beam(length=length, elements=n, young=YOUNG, shear=8.1e10, density=DENSITY, **values)
    whole = part.mass_matrix.toarray()
    whole[-6:, -6:] += np.diag([mass] * 3 + [0.006 * mass, 0.003 * mass, 0.003 * mass])
    part = replace(part, mass_matrix=whole)
    make = mb.flexible.craig_bampton if kind == "craig_bampton" else mb.flexible.clamped_modes
    modes = make(part, *(([0, n], 6) if kind == "craig_bampton" else (0, 20)))
    system = mb.System("overhung", gravity=(0, 0, -9.81))
    rotor = system.add(mb.FlexibleBody("rotor", modes, frame="node"))
    held = mb.RevoluteJoint if joint == "hinge" else mb.FixedJoint
    system.add(held("bearing", system.ground, rotor, at=(0, 0, 0), **({"axis": X} if joint == "hinge" else {})))
    sag = -mb.equilibrium(system).position(rotor, local_point=(length, 0, 0))[2]
    bending = YOUNG * moment
    assert sag == pytest.approx(9.81 * (mass * length**3 / 3 + DENSITY * area * length**4 / 8) / bending, rel=1e-4)


@pytest.mark.parametrize("stiffening", [False, True])
@pytest.mark.parametrize("frame", ["node", "mean"])
def test_a_thin_wire_bends_as_thick_ones_do(frame: str, stiffening: bool) -> None:
    """I / A L^2 = 1e-10, all shapes: bending is 1e-13 as stiff as stretching, and carries the load."""
    area = 12e-10 * LENGTH**2
    moment = area**2 / 12
    values = {"area": area, "second_moments": (moment, moment), "torsion": 1.7 * moment}
    material = {"young": YOUNG, "shear": 8.1e10, "density": DENSITY}
    wire = mb.flexible.beam(length=LENGTH, elements=8, **values, **material)
    modes = mb.flexible.free_modes(wire, n_modes=wire.n_freedoms - 6)
    force = -0.01 * YOUNG * moment / LENGTH**2 * Z
    system = cantilever(force, modes, frame=frame, geometric_stiffening=stiffening)
    state = mb.equilibrium(system)
    assert state.position(system["rod"], local_point=LENGTH * X)[2] == pytest.approx(-0.01 / 3, rel=1e-4)


@pytest.mark.parametrize("stored", [None, [0.0, 1e-3]])
def test_a_run_that_fails_has_warned_before(stored: list[float] | None) -> None:
    """A free beam seen from its end, without stiffening, spins so fast that it bends without bound.

    What it was bent by when it failed counts, stored or not.
    """
    system = mb.System("baton", gravity=(0, 0, 0))
    first = np.eye(8)[0]
    system.add(mb.FlexibleBody("rod", CLAMPED, angular_velocity=3000.0 * Y, modal_coordinates=0.01 * first))
    with pytest.raises(mb.SimulationError) as failed:
        mb.simulate(system, 0.3, t_eval=stored)
    assert "FlexibleBody 'rod'" in str(failed.value)
    assert "geometric_stiffening=True" in str(failed.value)
    assert failed.value.result is not None
    assert any("is bent by up to" in w for w in failed.value.result.info.warnings)


def spinning_disk(frame: str, tilt: float, inside: bool) -> mb.System:
    """A shaft of 40 mm in two bearings with a disk of 15 kg in its mass matrix or as a body, not balanced by `tilt`."""
    moment = np.pi * 0.02**4 / 4
    section = {"area": np.pi * 0.02**2, "second_moments": (moment, moment), "torsion": 2 * moment}
    material = {"young": YOUNG, "shear": 8.1e10, "density": DENSITY}
    part = mb.flexible.beam(length=1.0, elements=8, rotary_inertia=True, **section, **material)
    inertia = np.diag([0.5, 0.3, 0.26]) + tilt * np.array([[0.0, 0.02, -0.01], [0.02, 0.0, 0.03], [-0.01, 0.03, 0.0]])
    if inside:
        mass = part.mass_matrix.toarray()
        mass[18:21, 18:21] += 15.0 * np.eye(3)
        mass[21:24, 21:24] += inertia
        part = replace(part, mass_matrix=mass)
    modes = mb.flexible.craig_bampton(part, [0, 3, 8], 6)
    system, spin = mb.System("rotor", gravity=(0, 0, 0)), {"angular_velocity": 200.0 * X}
    body = system.add(mb.FlexibleBody("rotor", modes, frame=frame, **spin))
    system.add(mb.SphericalJoint("A", system.ground, body, at=(0, 0, 0)))
    system.add(mb.PointOnLineJoint("B", system.ground, body, at=X, axis=X))
    if not inside:
        disk = system.add(mb.RigidBody("disk", mass=15.0, inertia=inertia, position=0.375 * X, **spin))
        system.add(mb.FixedJoint("fit", body, disk, at=0.375 * X))
    return system


def test_inertia_that_is_lost_by_deformation_is_told() -> None:
    """A heavy disk inside a component turns by 0.01 rad: seen from a far node the inertia there is lost in that."""
    found = {}
    for frame in ("node", "mean"):
        system = spinning_disk(frame, 1.0, True)
        try:
            found[frame] = mb.simulate(system, 0.02, t_eval=np.linspace(0.0, 0.02, 201)).info.warnings
        except mb.SimulationError as error:
            found[frame] = error.result.info.warnings if error.result is not None else []
    assert any('set frame="mean"' in w and "its inertia" in w for w in found["node"])
    assert not any("its inertia" in w for w in found["mean"])


@pytest.mark.parametrize(("tilt", "told"), [(0.1, False), (0.3, True)])
def test_a_disk_seen_from_a_far_node_moves_rightly_until_that_is_told(tilt: float, told: bool) -> None:
    """It turns by 0.0072 rad times the tilt, and loses 1.7 times the tilt of the inertia."""
    t, moved = np.linspace(0.0, 0.02, 41), {}
    for frame, inside in (("node", True), ("mean", False)):
        result = mb.simulate(spinning_disk(frame, tilt, inside), t[-1], t_eval=t)
        moved[frame] = result.position("rotor", local_point=0.375 * X)
        if inside:
            assert any("its inertia" in w for w in result.info.warnings) == told
    assert moved["node"] == pytest.approx(moved["mean"], abs=2e-3 * np.abs(moved["mean"][:, 1:]).max())


def test_a_twisted_shaft_is_not_bent() -> None:
    twist = 0.3 * 8.1e10 * 2 * MOMENT / LENGTH
    system = cantilever(np.zeros(3))
    system.add(mb.Torque("twist", system["rod"], at=LENGTH * X, torque=twist * X))
    assert not said(system)


@pytest.mark.parametrize(
    ("stiffening", "frame", "inside", "beyond"),
    [(False, "node", 0.13, 0.16), (False, "mean", 0.13, 0.16), (True, None, 0.44, 0.49)],
)
def test_a_twisted_strip_says_so(stiffening: bool, frame: Any, inside: float, beyond: float) -> None:
    """30 x 2 mm: its planes of bending turn with it, and a linear theory does not know, whatever its frame is."""
    width, height = 0.03, 0.002
    moments, torsion = (height * width**3 / 12, width * height**3 / 12), width * height**3 / 3
    values = {"area": width * height, "second_moments": moments, "torsion": torsion}
    strip = mb.flexible.beam(length=LENGTH, elements=8, young=YOUNG, shear=8.1e10, density=DENSITY, **values)
    modes = mb.flexible.clamped_modes(strip, node=0, n_modes=16)

    def twisted(angle: float) -> mb.System:
        system = cantilever(np.zeros(3), modes, frame=frame, geometric_stiffening=stiffening)
        torque = angle * 8.1e10 * torsion / LENGTH
        system.add(mb.Torque("twist", system["rod"], at=LENGTH * X, torque=torque * X))
        return system

    assert not said(twisted(inside))
    (message,) = said(twisted(beyond))
    assert "FlexibleBody 'rod' is twisted by up to" in message


@pytest.mark.parametrize(("stiffening", "inside", "beyond"), [(False, 0.75, 0.85), (True, 0.4, 0.44)])
def test_a_twisted_round_shaft_says_so_where_a_frequency_is_off_by_a_percent(
    stiffening: bool, inside: float, beyond: float
) -> None:
    """The torque is far below that at which a shaft loops (8.99 E I / L), so that frequencies should stay."""
    modes = mb.flexible.craig_bampton(PART, interfaces=[0, 8], n_modes=10)

    def twisted(angle: float) -> tuple[np.ndarray, list[str]]:
        system = cantilever(np.zeros(3), modes, geometric_stiffening=stiffening)
        system.add(mb.Torque("twist", system["rod"], at=LENGTH * X, torque=angle * 8.1e10 * 2 * MOMENT / LENGTH * X))
        messages = said(system)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            roots = mb.linearize(system, mb.equilibrium(system)).eigenvalues.imag
        return np.sort(roots[roots > 0.0])[:6], messages

    right = twisted(0.0)[0]
    for angle, told in ((inside, False), (beyond, True)):
        found, messages = twisted(angle)
        assert 0.005 < np.abs(found / right - 1.0).max() < 0.015
        assert [w for w in messages if "FlexibleBody 'rod' is twisted by up to" in w] == messages
        assert bool(messages) == told


def test_a_bent_solid_says_so() -> None:
    """Nodes of solids have no turns of their own; those of their neighbourhoods count."""
    skfem = pytest.importorskip("skfem")
    mesh = skfem.MeshHex.init_tensor(np.linspace(0.0, 1.0, 9), *(np.linspace(0.0, 0.1, 2),) * 2)
    part = mb.flexible.solid(mesh, young=2e9, poisson=0.3, density=1000.0)
    modes = mb.flexible.free_modes(part, n_modes=4)
    body = mb.FlexibleBody("block", modes)
    shape = np.linalg.norm(body._slopes()[:, :, 0], axis=1).max()
    for slope, expected in ((0.13, False), (0.15, True)):
        modal = np.array([[slope / shape, 0.0, 0.0, 0.0]])
        assert ("is bent by up to 0.15 rad at t = 2 s" in body.bending_remark(np.array([2.0]), modal)) is expected


def overhung(stiffening: bool, diameter: float = 0.012, **values: Any) -> mb.System:
    """A disk of 10 kg at the end of a shaft of 0.6 m that has next to no mass, in its mass matrix, under its weight."""
    length, nodes = 0.6, 6
    moment = np.pi * diameter**4 / 64
    shaft = mb.flexible.beam(
        length=length,
        elements=nodes,
        area=np.pi * diameter**2 / 4,
        second_moments=(moment, moment),
        torsion=2 * moment,
        young=YOUNG,
        shear=8.1e10,
        density=7.85,
    )
    mass = shaft.mass_matrix.tolil(copy=True)
    for k, value in enumerate((10.0, 10.0, 10.0, 0.06, 0.03, 0.03), 6 * nodes):
        mass[k, k] += value
    part = mb.flexible.Component(
        shaft.nodes, mass.tocsr(), shaft.stiffness_matrix, lines=shaft.lines, beams=shaft.beams
    )
    system = mb.System("overhung", gravity=(0, 0, -9.81))
    modes = mb.flexible.craig_bampton(part, [0, nodes], n_modes=6)
    body = system.add(mb.FlexibleBody("rotor", modes, frame="mean", geometric_stiffening=stiffening, **values))
    system.add(mb.RevoluteJoint("bearing", system.ground, body, at=(0, 0, 0), axis=X))
    return system


@pytest.mark.parametrize("diameter", [0.012, 0.019])
def test_a_heavy_disk_on_a_light_shaft_that_sags(diameter: float) -> None:
    """Its second bending frequency, of a shaft without mass, is too low by half of what is said, and right stiffened.

    The end that is held is off by w in the axes of the disk: m w^2 is added to the disk's inertia. A thicker shaft sags
    less, by less than 1 % of the frequency, and nothing is said.
    """
    length, rigidity = 0.6, YOUNG * np.pi * diameter**4 / 64
    flexibility = [[length**3 / 3, length**2 / 2], [length**2 / 2, length]]
    stiffness = np.linalg.inv(np.array(flexibility) / rigidity)
    right = np.sqrt(scipy.linalg.eigh(stiffness, np.diag([10.0, 0.03]), eigvals_only=True))[1]
    found = {}
    for stiffening in (False, True):
        system = overhung(stiffening, diameter)
        messages = said(system)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            roots = mb.linearize(system, mb.equilibrium(system)).eigenvalues.imag
        found[stiffening] = roots[np.abs(roots - right) < 0.2 * right].min()  # of a pair, that in the plane of the sag
        told = [m for m in messages if "FlexibleBody 'rotor'" in m and "adds" in m]
        assert len(told) == (not stiffening and diameter < 0.015)
    off = 10.0 * (98.1 / rigidity * (length**3 / 2 - length**3 / 3)) ** 2 / 0.03
    assert found[True] == pytest.approx(right, rel=4e-3)
    assert found[False] == pytest.approx(right / np.sqrt(1.0 + off), rel=5e-3)
    if diameter < 0.015:
        (message,) = (m for m in said(overhung(False, diameter)) if "adds" in m)
        assert f"adds {100 * off:.2g}" in message
        assert found[False] < 0.96 * right


# --- lines that do not bend -------------------------------------------------------------------------------------------

SLEEVES = {
    mb.CylindricalJoint: "SleeveJoint",
    mb.TranslationalJoint: "KeyedSleeveJoint",
    mb.PointOnLineJoint: "PointOnAxisJoint",
}


def solid_modes() -> mb.flexible.Modes:
    skfem = pytest.importorskip("skfem")
    mesh = skfem.MeshHex.init_tensor(np.linspace(0.0, 1.0, 5), *(np.linspace(-0.1, 0.1, 3),) * 2)
    return mb.flexible.free_modes(mb.flexible.solid(mesh, young=2e9, poisson=0.3, density=1000.0), n_modes=4)


@pytest.mark.parametrize("cls", SLEEVES)
@pytest.mark.parametrize("kind", ["beam", "solid"])
def test_the_line_of_a_joint_is_straight(cls: type, kind: str) -> None:
    """On a flexible first body it should bend, and the joint says so.

    A flexible second one, which may be meant as the rail, is held at a node: that is said of joints that could be read
    so, not of a point on a line.
    """
    modes = BETWEEN if kind == "beam" else solid_modes()
    for flexible_first in (True, False):
        system = mb.System("slide", gravity=(0, 0, 0))
        rod = system.add(mb.FlexibleBody("rod", modes))
        bead = system.add(mb.RigidBody("bead", mass=0.1, inertia=(1e-4, 1e-4, 1e-4), position=0.5 * X))
        pair = (rod, bead) if flexible_first else (bead, rod)
        joint = system.add(cls("slide", *pair, at=0.5 * X, axis=X))
        (message,) = rigid_lines(system)
        assert str(joint) in message
        assert f"use a {SLEEVES[cls]}" in message
        assert flexible_first or "exchange the bodies" in message


@pytest.mark.parametrize("cls", [mb.PointOnAxisJoint, mb.SleeveJoint, mb.KeyedSleeveJoint])
def test_a_sleeve_on_the_wrong_body_says_so(cls: type) -> None:
    """A sleeve follows the axis of its first body; a guide on the ground or across the body is no mistake."""
    system = mb.System("slide", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", BETWEEN))
    bead = system.add(mb.RigidBody("bead", mass=0.1, inertia=(1e-4, 1e-4, 1e-4), position=0.5 * X))
    system.add(cls("sleeve", bead, rod, at=0.5 * X, axis=X))
    (message,) = rigid_lines(system)
    assert f"exchange the bodies and use a {cls.__name__}" in message
    for joint in (
        cls("sleeve", rod, bead, at=0.5 * X, axis=X),
        cls("sleeve", system.ground, rod, at=0.5 * X, axis=X),
        mb.CylindricalJoint("sleeve", bead, rod, at=0.5 * X, axis=Y),
        mb.CylindricalJoint("sleeve", rod, bead, at=0.5 * X, axis=Y),
        mb.TranslationalJoint("sleeve", system.ground, rod, at=0.5 * X, axis=X),
    ):
        system.remove(system["sleeve"])
        system.add(joint)
        assert not rigid_lines(system)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_evaluation_tells_what_a_run_would() -> None:
    for share in (0.05, 0.5):
        system = cantilever(-share * EULER / 4 * X)
        found = mb.evaluate(system, mb.equilibrium(system)).info.warnings
        assert len(found) == (share > 0.1)
        assert all("press it" in message and "by 50 %" in message for message in found)


def test_analyses_tell_of_straight_lines() -> None:
    system = cantilever(np.zeros(3))
    bead = system.add(mb.RigidBody("bead", mass=0.1, inertia=(1e-4, 1e-4, 1e-4), position=0.5 * X))
    system.add(mb.TranslationalJoint("slide", system["rod"], bead, at=0.5 * X, axis=X))
    for analysis in (mb.assemble, mb.equilibrium, mb.linearize, lambda s: mb.steady(s, axis=Z, rate=0.0)):
        (message,) = said(system, analysis)
        assert "use a KeyedSleeveJoint" in message


def test_assembly_tells_of_what_is_bent_too_far() -> None:
    """It knows no loads, so that it is judged by its positions alone."""
    for tip in (0.9, 1.1):
        load = tip * 2 * 0.14 * RIGIDITY / LENGTH**2 * Y  # its slope at the end is P L^2 / 2 E I
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            modal = mb.equilibrium(cantilever(load)).motions["rod"].modal_coordinates
        system = mb.System("cantilever")
        rod = system.add(mb.FlexibleBody("rod", BETWEEN, frame="node", modal_coordinates=modal))
        system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
        found = said(system, mb.assemble)
        assert len(found) == (tip > 1.0)
        assert all("rod" in message and "is bent by up to" in message for message in found)


@pytest.mark.parametrize("flexible_first", [True, False])
@pytest.mark.parametrize(("cls", "axis", "values"), [(mb.ScrewJoint, X, {"pitch": 0.01}), (mb.PlanarJoint, Z, {})])
def test_screws_and_planes_are_straight(cls: type, axis: np.ndarray, values: Any, flexible_first: bool) -> None:
    """A nut on a flexible spindle and a slider on a flexible beam say so, in runs and in analyses; not across it."""
    system = mb.System("slide", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", BETWEEN))
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
    bead = system.add(mb.RigidBody("bead", mass=0.1, inertia=(1e-4, 1e-4, 1e-4), position=0.5 * X))
    pair = (rod, bead) if flexible_first else (bead, rod)
    joint = system.add(cls("slide", *pair, at=0.5 * X, axis=axis, **values))
    found = [w for w in mb.simulate(system, 1e-4).info.warnings if str(joint) in w]
    assert len(found) == 1
    assert ("exchange the bodies" in found[0]) != flexible_first
    assert "use a SleeveJoint" in found[0]
    for analysis in (mb.assemble, mb.equilibrium, mb.linearize):
        assert said(system, analysis) == found
    system.remove(joint)
    system.add(cls("slide", *pair, at=0.5 * X, axis=Y if cls is mb.ScrewJoint else X, **values))
    assert not rigid_lines(system)


# --- bodies that are fixed to each other -----------------------------------------------------------------------------


def in_pieces(count: int, share: float, plates: bool = False, **values: Any) -> mb.System:
    """A clamped column cut into bodies, with thin rigid plates between them, pressed by a share of Euler's load."""
    length = LENGTH / count
    section = {"area": AREA, "second_moments": (MOMENT, MOMENT), "torsion": 2 * MOMENT}
    part = mb.flexible.beam(length=length, elements=6, young=YOUNG, shear=8.1e10, density=DENSITY, **section)
    modes = mb.flexible.craig_bampton(part, interfaces=[0, 6], n_modes=4)
    system = mb.System("column", gravity=(0, 0, 0))
    before: mb.Body = system.ground
    for k in range(count):
        rod = system.add(mb.FlexibleBody(f"rod {k}", modes, position=k * length * X, **values))
        if plates and k:
            plate = system.add(mb.RigidBody(f"plate {k}", mass=0.01, inertia=(1e-6,) * 3, position=k * length * X))
            system.add(mb.FixedJoint(f"weld {k}", before, plate, at=k * length * X))
            before = plate
        system.add(mb.FixedJoint(f"joint {k}", before, rod, at=k * length * X))
        before = rod
    system.add(mb.PointForce("load", before, at=LENGTH * X, force=-share * EULER / 4 * X))
    return system


@pytest.mark.parametrize(("count", "plates"), [(2, False), (4, False), (4, True)])
def test_a_column_in_pieces_is_judged_as_a_whole(count: int, plates: bool) -> None:
    """Each piece by itself would carry the square of their number times the load."""
    assert not said(in_pieces(count, 0.095, plates))
    (message,) = said(in_pieces(count, 0.105, plates))
    assert "FlexibleBody 'rod 0', with 'rod 1'" in message
    assert "press it" in message
    assert "by 10.5 %" in message
    (message,) = said(in_pieces(count, 1.01, plates))
    assert "by 101 %" in message
    assert not said(in_pieces(count, 0.5, plates, geometric_stiffening=True))


def test_pieces_that_are_not_fixed_to_each_other_are_judged_by_themselves() -> None:
    system = in_pieces(2, 0.0)
    system.remove(system["load"])
    system.remove(system["joint 1"])
    system.add(mb.FixedJoint("joint 1", system.ground, system["rod 1"], at=0.5 * LENGTH * X))
    system.add(mb.PointForce("load", system["rod 1"], at=LENGTH * X, force=-0.105 * EULER * X))
    (message,) = said(system)
    assert "FlexibleBody 'rod 1' carries" in message
    assert "by 10.5 %" in message


def test_shapes_along_a_body_that_is_held_at_both_ends_are_missed() -> None:
    """Clamped modes bend it only: linear theory sees no tension, and stiffening would keep it straight."""

    def held(modes: mb.flexible.Modes = CLAMPED, **values: Any) -> mb.System:
        system = cantilever(np.zeros(3), modes, **values)
        system.add(mb.FixedJoint("other wall", system.ground, system["rod"], at=LENGTH * X))
        system.add(mb.PointForce("push", system["rod"], at=0.5 * LENGTH * X, force=20.0 * Z))
        return system

    messages = said(held(), lambda system: mb.linearize(system, mb.equilibrium(system)))
    assert any("nodes 0 and 8" in message and "interfaces=[0, 8]" in message for message in messages)
    (message,) = lacking_shapes(Equations(held(geometric_stiffening=True)))  # ends the message of a failed equilibrium
    assert "nodes 0 and 8, where joints hold it" in message
    assert not lacking_shapes(Equations(held(BETWEEN, geometric_stiffening=True)))


# --- what happens between stored instants -----------------------------------------------------------------------------


def slew(stored: Any, **values: Any) -> mb.Result:
    """A beam that is turned by a quarter and stops; on the way it turns faster than it bends."""
    system = mb.System("slew", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", BETWEEN))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, rod, at=(0, 0, 0), axis=Z))
    system.add(mb.Driver("turn", hinge, angle="42 * (t - sin(2*pi*t/0.6)*0.6/(2*pi))"))
    return mb.simulate(system, 0.6, t_eval=stored, **values)


def test_what_is_not_stored_is_looked_at(tmp_path: Path) -> None:
    """Warnings do not depend on which instants are stored, in memory or in a file; nor does a step on who looks."""
    whole, ends, middle = slew(None), slew([0.0, 0.6]), slew([0.3])
    bent, turns = whole.info.warnings
    assert "is bent by up to" in bent
    assert "turns with up to" in turns
    assert ends.info.warnings == whole.info.warnings == middle.info.warnings
    assert np.array_equal(ends.q[-1], whole.q[-1])
    assert (ends.info.steps, ends.info.evaluations) == (whole.info.steps, whole.info.evaluations)
    streamed = slew([0.0, 0.6], output=tmp_path / "slew.h5")
    assert streamed.info.warnings == whole.info.warnings
    assert np.array_equal(streamed.q, ends.q)
    late = [mb.Event(lambda t, _: t - 0.59)]
    assert slew([0.0, 0.6], events=late).info.warnings == whole.info.warnings


@pytest.mark.parametrize("rate", [25, 46])
def test_trial_steps_say_nothing_about_constraints(rate: int) -> None:
    """A trial across the stop of a driver deforms a stiffened body so far that equations seem dependent there."""
    system = mb.System("slew", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", BETWEEN, geometric_stiffening=True))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, rod, at=(0, 0, 0), axis=Z))
    system.add(mb.Driver("turn", hinge, angle=f"{rate} * if(t<1, t/2-sin(2*pi*t)/(4*pi), 0.5)"))
    result = mb.simulate(system, 2.0, t_eval=np.linspace(0.0, 2.0, 1001))
    assert result.info.rejected
    assert not result.info.warnings


def test_a_load_between_stored_instants_is_looked_at() -> None:
    system = cantilever(np.zeros(3))
    system.remove(system["load"])
    push = f"{-0.8 * EULER / 4} * sin(pi*t/0.02)"
    system.add(mb.PointForce("load", system["rod"], at=LENGTH * X, force=(push, 0, 0)))
    (message,) = mb.simulate(system, 0.02, t_eval=[0.0, 0.02]).info.warnings
    assert "press it" in message


# --- frequencies of bent bodies ---------------------------------------------------------------------------------------


def sagging(mass: float, *, pieces: int = 1, disk_inside: bool = False, **options: Any) -> mb.System:
    """A shaft of 0.6 m and 20 mm that sags under a disk at its end, cut into bodies of 12 elements in all."""
    length, diameter, count = 0.6 / pieces, 0.02, 12 // pieces
    moment = np.pi * diameter**4 / 64
    section = {"area": np.pi * diameter**2 / 4, "second_moments": (moment, moment), "torsion": 2 * moment}
    material = {"young": YOUNG, "shear": 8.1e10, "density": DENSITY}
    part = mb.flexible.beam(length=length, elements=count, **section, **material)
    inertia = mass * np.array([0.006, 0.003, 0.003])
    if disk_inside:
        whole = part.mass_matrix.toarray()
        whole[-6:, -6:] += np.diag([mass] * 3 + inertia.tolist())
        part = replace(part, mass_matrix=whole)
    modes = mb.flexible.craig_bampton(part, interfaces=[0, count], n_modes=12)
    system = mb.System("overhung", gravity=(0, 0, -9.81))
    before: mb.Body = system.ground
    for k in range(pieces):
        name = f"shaft {k}" if k else "shaft"
        shaft = system.add(mb.FlexibleBody(name, modes, position=k * length * X, **options))
        system.add(mb.FixedJoint(f"clamp {k}", before, shaft, at=k * length * X))
        before = shaft
    if not disk_inside:
        disk = system.add(mb.RigidBody("disk", mass=mass, inertia=inertia, position=0.6 * X))
        system.add(mb.FixedJoint("fit", before, disk, at=0.6 * X))
    return system


def sixth_root(system: mb.System) -> tuple[float, list[str]]:
    """The vibration along the sagging shaft, rad/s, and what `linearize` says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state = mb.equilibrium(system)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        roots = mb.linearize(system, state, n_modes=12).eigenvalues.imag
    return float(np.sort(roots[roots > 0.0])[5]), [str(w.message) for w in caught if "bends it too" in str(w.message)]


@pytest.fixture(scope="module")
def divided() -> float:
    """The sixth root of a sagging shaft in four bodies, of which each is bent little against its own axes."""
    return sixth_root(sagging(50.0, pieces=4))[0]


@pytest.mark.parametrize("disk_inside", [False, True])
@pytest.mark.parametrize("frame", ["node", "mean"])
def test_the_axial_mode_of_a_bent_shaft_is_told(frame: str, disk_inside: bool, divided: float) -> None:
    """Bent by 0.05 rad it is softer along itself by a sixth: linear theory takes it for a straight one."""
    root, said_so = sixth_root(sagging(50.0, frame=frame, disk_inside=disk_inside))
    assert root > 1.06 * divided
    (message,) = said_so
    assert "FlexibleBody 'shaft' is deformed at t = 0 s" in message
    assert "geometric_stiffening=True" in message
    told = float(message.split("is about ")[1].split(" rad/s")[0])
    assert told == pytest.approx(divided, rel=0.02)
    assert not sixth_root(sagging(10.0, frame=frame, disk_inside=disk_inside))[1]


def test_stiffening_knows_the_axial_mode_of_a_bent_shaft(divided: float) -> None:
    root, said_so = sixth_root(sagging(50.0, geometric_stiffening=True))
    assert root == pytest.approx(divided, rel=5e-3)
    assert not said_so
