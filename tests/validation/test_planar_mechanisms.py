"""The planar mechanisms of [PappalardoGuida2018a] and [MarquesSoutoFlores2017], and planar benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ellipk

import mbframe as mb

FORMULATIONS = [mb.PlanarAngle(), mb.PlanarEulerParameters(), mb.PlanarNatural()]
PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12, atol=1e-13), "stabilization": mb.DirectCorrection()}
MECHANISMS = ["four_bar", "slider_crank", "double_inverted_pendulum", "quick_return"]

# Tables 6 to 9: centre and first axis of each body as printed; block and rocker of the quick return point upwards here.
TABLES = {
    "four_bar": [(1.414, -1.414, 0.707, -0.707), (4.828, -2.828, 1.0, 0.0), (5.414, -1.414, -0.707, 0.707)],
    "slider_crank": [(1.414, 1.414, 0.707, 0.707), (8.106, 1.414, 0.966, -0.259), (13.384, 0.0, 1.0, 0.0)],
    "double_inverted_pendulum": [(0.0, 0.0, 1.0, 0.0), (2.0, 0.0, 1.0, 0.0), (4.0, 3.0, 0.0, 1.0)],
    "quick_return": [
        (0.500, 0.866, 0.500, 0.866),
        (1.000, 1.732, 0.259, 0.966),
        (0.741, 0.766, 0.259, 0.966),
        (0.811, 4.371, -0.707, 0.707),
        (0.103, 5.078, 1.0, 0.0),
    ],
    # [MarquesSoutoFlores2017], Table 1, with the coupler's angle that closes the loop
    "four_bar_marques": [
        (0.5000, 0.8660, np.cos(1.0472), np.sin(1.0472)),
        (2.8235, 2.5535, np.cos(0.4233), np.sin(0.4233)),
        (3.5735, 1.6875, np.cos(1.0042), np.sin(1.0042)),
    ],
}
FREEDOMS = {"four_bar": 1, "slider_crank": 1, "double_inverted_pendulum": 3, "quick_return": 1, "four_bar_marques": 1}


def made(name: str, **values: Any) -> mb.System:
    return getattr(mb.examples, name)(**values)


@pytest.mark.parametrize("name", TABLES)
def test_starts_as_tabulated(name: str) -> None:
    system = made(name)
    digits = 5.1e-5 if name == "four_bar_marques" else 1.1e-3
    for body, expected in zip(system.bodies, TABLES[name], strict=True):
        found = [*body.position, np.cos(body.angle), np.sin(body.angle)]
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=digits)
    assembled = mb.assemble(system)
    assert max(max(moved) for moved in assembled.moved.values()) <= 1e-12
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.count, freedom.redundant) == (FREEDOMS[name], 0)


@pytest.mark.parametrize("name", MECHANISMS)
def test_formulations_overlap(name: str) -> None:
    """As in Figs. 6 to 9: the same motion to 1e-9 over 5 s."""
    system, t = made(name), np.linspace(0.0, 5.0, 101)
    runs = [mb.simulate(system, 5.0, formulation=f, t_eval=t, **PRECISE) for f in FORMULATIONS]
    for body in system.bodies:
        for run in runs[1:]:
            np.testing.assert_allclose(run.position(body), runs[0].position(body), rtol=0.0, atol=1e-9)
            np.testing.assert_allclose(run.angle(body), runs[0].angle(body), rtol=0.0, atol=1e-9)
    moving = system.bodies[-1]
    assert np.ptp(runs[0].position(moving), axis=0).max() > 0.5
    for joint in system.joints:
        force, torque = runs[0].reaction(joint).force, runs[0].reaction(joint).torque
        np.testing.assert_allclose(runs[2].reaction(joint).force, force, rtol=0.0, atol=1e-6 * np.abs(force).max())
        np.testing.assert_allclose(runs[2].reaction(joint).torque, torque, rtol=0.0, atol=1e-6 * np.abs(force).max())


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
@pytest.mark.parametrize("name", MECHANISMS)
def test_violations_with_the_settings_of_the_paper(name: str, formulation: mb.Formulation) -> None:
    """Tables 10 and 11: step 1 ms, Adams-Bashforth of order six, direct correction to 1e-12."""
    settings = {"integrator": mb.AdamsBashforth(order=6), "stabilization": mb.DirectCorrection(tolerance=1e-12)}
    result = mb.simulate(made(name), 5.0, dt=1e-3, formulation=formulation, **settings)
    assert result.violation.position.max() <= 1e-12
    assert result.violation.velocity.max() <= 1e-12


def in_space(plane: mb.System) -> mb.System:
    """The same mechanism of rigid bodies in space."""

    def lifted(vector: Any) -> np.ndarray:
        return np.append(vector, 0.0)

    space = mb.System(plane.name, gravity=lifted(plane.gravity))
    for body in plane.bodies:
        inertia, turn = (body.inertia / 2, body.inertia / 2, body.inertia), (np.cos(body.angle / 2), 0, 0)
        space.add(
            mb.RigidBody(
                body.name,
                mass=body.mass,
                inertia=inertia,
                position=lifted(body.position),
                rotation=(*turn, np.sin(body.angle / 2)),
            )
        )
    for joint in plane.joints:
        ends = [space[body.name] for body in (joint.body_i, joint.body_j)]
        axis = (0.0, 0.0, 1.0) if isinstance(joint, mb.RevoluteJoint) else lifted(joint.axis)
        space.add(type(joint)(joint.name, *ends, at=lifted(joint.at), axis=axis))
    for spring in plane.forces:
        ends = [space[body.name] for body in (spring.body_i, spring.body_j)]
        values = {name: getattr(spring, name) for name in ("stiffness", "damping", "free_length")}
        points = {"at_i": lifted(spring.at_i), "at_j": lifted(spring.at_j)}
        space.add(mb.SpringDamper(spring.name, *ends, **points, **values))
    return space


@pytest.mark.parametrize(("name", "redundant"), [("four_bar", 3), ("slider_crank", 3), ("quick_return", 6)])
def test_spatial_model_moves_the_same(name: str, redundant: int) -> None:
    """Each closed loop of plane joints has three equations too many in space: reported, and without influence."""
    plane, t = made(name), np.linspace(0.0, 5.0, 51)
    space = in_space(plane)
    flat, full = (mb.simulate(system, 5.0, t_eval=t, **PRECISE) for system in (plane, space))
    assert any("depend on each other" in warning for warning in full.info.warnings)
    assert not flat.info.warnings
    freedom = mb.degrees_of_freedom(space)
    assert (freedom.count, freedom.redundant) == (1, redundant)
    for body in plane.bodies:
        position = full.position(body.name)
        np.testing.assert_allclose(position[:, :2], flat.position(body), rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(position[:, 2], 0.0, rtol=0.0, atol=1e-12)


def test_spatial_pendulum_on_a_cart_moves_the_same() -> None:
    """An open chain has nothing too many."""
    plane, t = made("double_inverted_pendulum"), np.linspace(0.0, 5.0, 51)
    flat, full = (mb.simulate(system, 5.0, t_eval=t, **PRECISE) for system in (plane, in_space(plane)))
    assert not full.info.warnings
    for body in plane.bodies:
        np.testing.assert_allclose(full.position(body.name)[:, :2], flat.position(body), rtol=0.0, atol=1e-9)


def test_energy_lost_is_what_the_damper_takes() -> None:
    """The rate of the energy is minus c l'^2 at every instant: integrated over the four-bar's 5 s."""
    system = made("four_bar")
    result = mb.simulate(system, 5.0, dt=1e-3)
    spring = system["spring"]
    arm = result.position(spring.j) - spring.at_i
    length = np.linalg.norm(arm, axis=1)
    rate = np.sum(arm * result.velocity(spring.j), axis=1) / length
    lost = np.concatenate([[0.0], np.cumsum(0.5 * 1e-3 * (rate[1:] ** 2 + rate[:-1] ** 2))]) * spring.damping
    np.testing.assert_allclose(result.energy.total[0] - result.energy.total, lost, atol=2e-5 * lost[-1])
    assert lost[-1] > 10.0


# --- [MarquesSoutoFlores2017], section 4 ------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_four_bar_of_marques_keeps_its_energy(formulation: mb.Formulation) -> None:
    result = mb.simulate(made("four_bar_marques"), 10.0, formulation=formulation, **PRECISE)
    assert np.ptp(result.energy.total) <= 1e-8 * result.energy.kinetic.max()
    assert result.energy.kinetic.max() > 10.0
    assert result.violation.position.max() <= 1e-12


def test_four_bar_of_marques_starts_to_fall_as_its_linkage_asks() -> None:
    """Lagrange's equation for the crank's angle, from rest: A theta'' = -dV/dtheta, with the derivatives of the
    linkage by differences of its closed form.
    """
    system = made("four_bar_marques")
    lengths, d = (2.0, 4.0, 4.0), np.array([2.5, 0.0])

    def pose(theta: float) -> np.ndarray:
        """Centres and angles of crank, coupler and follower."""
        b = 2.0 * np.array([np.cos(theta), np.sin(theta)])
        reach = d - b
        size = np.linalg.norm(reach)
        c = b + reach / 2 + np.sqrt(lengths[1] ** 2 - size**2 / 4) * np.array([-reach[1], reach[0]]) / size
        parts = []
        for start, end in (((0, 0), b), (b, c), (d, c)):
            x, y = np.subtract(end, start)
            parts.append([*(np.add(start, end) / 2), np.arctan2(y, x)])
        return np.array(parts)

    h, theta = 1e-5, np.pi / 3
    by_angle = (pose(theta + h) - pose(theta - h)) / (2 * h)
    masses, inertias = np.array([1.0, 2.25, 2.2]), np.array([0.3, 2.0, 1.35])
    inertia = masses @ (by_angle[:, 0] ** 2 + by_angle[:, 1] ** 2) + inertias @ by_angle[:, 2] ** 2
    expected = -9.81 * masses @ by_angle[:, 1] / inertia
    assert mb.evaluate(system).angular_acceleration("crank")[0] == pytest.approx(expected, rel=1e-7)


# --- benchmarks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{"dt": 1e-3}, {}], ids=["fixed step", "default"])
def test_row_of_windows_passes_its_singular_positions(settings: dict[str, Any]) -> None:
    """Ten times within 10 s all rods lie in one line; the windows stay parallelograms."""
    system = made("n_four_bar", n=40)
    result = mb.simulate(system, 10.0, **settings)
    posts = np.array([result.angle(f"post {k}") for k in range(41)])
    beams = np.array([result.angle(f"beam {k}") for k in range(1, 41)])
    assert np.abs(posts - posts[0]).max() <= 1e-6
    assert np.abs(beams).max() <= 1e-6
    assert posts[0, 0] - posts[0, -1] > 10 * np.pi
    assert np.ptp(result.energy.total) <= 1e-5 * result.energy.kinetic.max()
    freedom = mb.degrees_of_freedom(made("n_four_bar", n=3))
    assert (freedom.count, freedom.redundant) == (1, 0)


def test_row_of_windows_turns_like_a_pendulum() -> None:
    """All posts turn equally, so 1/2 I w^2 + V is that of one body: w from the energy, the time by its integral."""
    n = 3
    inertia = (n + 1) / 3 + n  # of n + 1 rods about their ends and n that move on a circle of 1 m
    weight = 9.81 * ((n + 1) / 2 + n)
    w0 = 1.0

    def speed(theta: np.ndarray) -> np.ndarray:
        return np.sqrt(w0**2 + 2 * weight / inertia * (1 - np.cos(theta)))

    nodes, weights = np.polynomial.legendre.leggauss(60)
    period = 2 * np.pi * np.sum(weights / 2 / speed(np.pi * (nodes + 1)))
    result = mb.simulate(made("n_four_bar", n=n), period, dt=1e-3, t_eval=[0.0, period])
    assert result.angle("post 0")[-1] - result.angle("post 0")[0] == pytest.approx(-2 * np.pi, abs=1e-7)


def test_squeezer_at_the_published_instant() -> None:
    """The reference solution of the test set of [MazziaMagherini2008] at 0.03 s."""
    result = mb.simulate(made("andrews_squeezer"), 0.03, integrator=mb.DormandPrince(rtol=1e-12, atol=1e-13))
    k1, k2, k3, k4, k5, k6, k7 = (result.angle(f"K{n}")[-1] for n in range(1, 8))
    found = {"beta": k1, "Theta": k2 - k1, "gamma": k3, "Phi": k4 - k5, "delta": k5, "Omega": k6 - k7, "epsilon": k7}
    published = {
        "beta": 0.1581077119629904e2,
        "Theta": -0.1575637105984298e2,
        "gamma": 0.4082224013073101e-1,
        "Phi": -0.5347301163226948e0,
        "delta": 0.5244099658805304e0,
        "Omega": 0.5347301163226948e0,
        "epsilon": 0.1048080741042263e1,
    }
    for name, value in published.items():
        assert found[name] == pytest.approx(value, rel=0.0, abs=2e-9), name


def test_squeezer_in_every_formulation() -> None:
    ends = [
        mb.simulate(made("andrews_squeezer"), 0.01, formulation=f, integrator=mb.DormandPrince(rtol=1e-11)).position(
            "K4"
        )
        for f in FORMULATIONS
    ]
    for end in ends[1:]:
        np.testing.assert_allclose(end[-1], ends[0][-1], rtol=0.0, atol=1e-11)


def test_simple_pendulum_has_its_period() -> None:
    """Released from the level position: T = 4 sqrt(l/g) K(sin 45 degrees)."""
    period = 4 * np.sqrt(1 / 9.81) * ellipk(0.5)
    result = mb.simulate(
        made("simple_pendulum"), 2 * period, t_eval=period * np.array([0.25, 0.5, 1.0, 2.0]), **PRECISE
    )
    expected = [[0.0, -1.0], [1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0]]
    np.testing.assert_allclose(result.position("mass"), expected, rtol=0.0, atol=1e-9)
    rope = result.reaction("rod").force
    np.testing.assert_allclose(rope[0], [0.0, 3 * 9.81], atol=1e-8)


@pytest.mark.parametrize("name", [*TABLES, "n_four_bar", "andrews_squeezer", "simple_pendulum"])
def test_is_in_the_gallery(name: str) -> None:
    assert name in mb.examples.names()
