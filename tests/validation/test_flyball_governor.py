"""The stiff flyball governor: against the one with rigid couplers, and by what it keeps and loses."""

import numpy as np

import mbframe as mb


def test_starts_unstressed_with_four_freedoms() -> None:
    system = mb.examples.flyball_governor()
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.count, freedom.redundant) == (4, 0)
    result = mb.evaluate(system)
    for side in ("left", "right"):
        spring = system[f"{side} coupler"]
        np.testing.assert_allclose(np.linalg.norm(spring.at_i - spring.at_j), 0.5, atol=1e-15)
    # rods of 0.3 kg with balls of 5 kg: 2 (m l^2/3 + M l^2) cos^2 a about the shaft, slider and shaft beside it
    about = 2 * (0.3 / 3 + 5.0) * 0.75 + 3.0 * 0.1**2 / 6 + 0.3 * 0.01**2 / 6
    np.testing.assert_allclose(result.momentum.angular[0, 2], about * 2 * np.pi, rtol=1e-4)


def test_moves_like_the_governor_with_rigid_couplers() -> None:
    """Couplers of 8e5 N/m give way by less than a millimetre under the balls' centrifugal forces."""
    stiff, rigid = mb.examples.flyball_governor(), mb.examples.flyball_governor()
    for side in ("left", "right"):
        spring = rigid[f"{side} coupler"]
        ends = {"at_i": spring.at_i, "at_j": spring.at_j}
        rigid.remove(spring)
        rigid.add(mb.DistanceJoint(f"{side} coupler", rigid[f"{side} rod"], rigid["slider"], **ends))
    t = np.linspace(0.0, 1.0, 51)
    settings = {"integrator": mb.DormandPrince(order=5, rtol=1e-6), "t_eval": t}
    results = [mb.simulate(system, 1.0, **settings) for system in (stiff, rigid)]
    heights = [result.position("slider")[:, 2] for result in results]
    assert np.ptp(heights[1]) > 0.1
    np.testing.assert_allclose(heights[0], heights[1], atol=3e-3)
    np.testing.assert_allclose(results[0].position("slider")[:, :2], 0.0, atol=1e-9)
    spin = results[0].momentum.angular[:, 2]
    np.testing.assert_allclose(spin, spin[0], rtol=1e-7)
    assert np.all(np.diff(results[0].energy.total) <= 1e-6)
