"""Flexible bodies in states, results, quantities and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbframe as mb
from mbframe.render.frames import Frames

TIP = (1.2, 0.0, 0.0)


@pytest.fixture(scope="module")
def system() -> mb.System:
    """A soft pendulum with a damper at its tip."""
    part = mb.flexible.beam(
        length=1.2,
        elements=3,
        area=4e-4,
        second_moments=(3e-8, 1e-8),
        torsion=2e-8,
        young=2e9,
        shear=8e8,
        density=2000.0,
    )
    system = mb.System("soft pendulum", gravity=(0, 0, -9.81))
    modes = mb.flexible.craig_bampton(part, interfaces=[0, 3], n_modes=0)
    rod = system.add(
        mb.FlexibleBody(
            "rod",
            modes,
            position=(0.1, 0.2, 0.3),
            rotation=(0.6, 0.0, 0.0, 0.8),
            modal_velocities=np.array([0.2, -0.1, 0.0, 0.1, 0.0, 0.0]),
            damping_ratios=0.02,
        )
    )
    system.add(mb.RevoluteJoint("pin", system.ground, rod, at=rod.position, axis=(1, 2, 0)))
    tip = rod.position + rod.rotation @ TIP
    system.add(mb.SpringDamper("spring", system.ground, rod, at_i=(0, 0, 2), at_j=tip, stiffness=5.0, free_length=1.0))
    return system


@pytest.fixture(scope="module")
def result(system: mb.System) -> mb.Result:
    return mb.simulate(system, 0.05, t_eval=np.linspace(0.0, 0.05, 11))


def test_state_holds_the_deformation(system: mb.System, result: mb.Result) -> None:
    state = result.state(-1)
    motion = state.motion("rod")
    assert motion.modal_coordinates == pytest.approx(result.modal("rod")[-1], abs=0)
    assert motion.modal_velocities == pytest.approx(result.modal_velocity("rod")[-1], abs=0)
    rod = system["rod"]
    assert state.position(rod, TIP) == pytest.approx(result.position(rod, local_point=TIP)[-1], abs=1e-14)
    assert state.velocity(rod, TIP) == pytest.approx(result.velocity(rod, local_point=TIP)[-1], abs=1e-12)
    again = mb.simulate(system, 0.06, initial=state, t_eval=[0.05, 0.06])
    whole = mb.simulate(system, 0.06, t_eval=[0.0, 0.06])
    assert again.modal("rod")[-1] == pytest.approx(whole.modal("rod")[-1], abs=1e-6)
    assert mb.evaluate(system, state).position("rod", local_point=TIP)[0] == pytest.approx(
        result.position("rod", local_point=TIP)[-1], abs=1e-12
    )


def test_quantities_have_names(result: mb.Result) -> None:
    names = result.quantities()
    assert names["rod.modal_coordinate.0"] == ""
    assert names["rod.modal_velocity.5"] == "1/s"
    assert result.quantity("rod.modal_coordinate.1").values == pytest.approx(result.modal("rod")[:, 1], abs=0)
    tip = result.quantity("rod.point(1.2, 0, 0).position.z").values
    assert tip == pytest.approx(result.position("rod", local_point=TIP)[:, 2], abs=0)


def test_a_point_that_is_no_node_is_refused(result: mb.Result) -> None:
    with pytest.raises(mb.ModelError, match=r"0\.05 m away"):
        result.position("rod", local_point=(1.15, 0.0, 0.0))
    with pytest.raises(mb.ModelError, match="only a flexible body"):
        result.modal("ground")


def test_the_name_of_a_flexible_body_does_not_tell_where_its_nodes_are(result: mb.Result) -> None:
    """A state has no shapes: it gave the place of the undeformed node."""
    state = result.state(-1)
    for asked in (state.position, state.velocity):
        with pytest.raises(mb.ModelError, match=r"pass the body, system\['rod'\]"):
            asked("rod", TIP)
    assert state.position("rod") == pytest.approx(result.position("rod")[-1], abs=1e-15)


def test_model_and_result_come_back_from_files(system: mb.System, result: mb.Result, tmp_path: Path) -> None:
    mb.save(system, tmp_path / "model.json")
    loaded = mb.load(tmp_path / "model.json")
    namespace: dict[str, object] = {}
    exec(mb.to_python(system), namespace)  # our own script
    state = result.state(-1)
    expected = mb.evaluate(system, state)
    for copy in (loaded, namespace["system"]):
        assert isinstance(copy, mb.System)
        found = mb.evaluate(copy, state)
        assert found.v_rate == pytest.approx(expected.v_rate, rel=1e-12)
        assert found.energy.total == pytest.approx(expected.energy.total, rel=1e-12)
    result.save(tmp_path / "run.h5")
    stored = mb.load_result(tmp_path / "run.h5")
    assert stored.modal("rod") == pytest.approx(result.modal("rod"), abs=0)
    assert stored.position("rod", local_point=TIP) == pytest.approx(result.position("rod", local_point=TIP), abs=0)
    assert stored.energy.total == pytest.approx(result.energy.total, rel=1e-12)


def test_broken_modes_in_a_file_are_explained(system: mb.System, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    mb.save(system, path)
    path.write_text(path.read_text().replace('"method"', '"methode"'))
    with pytest.raises(mb.ModelError, match=r"modes.*missing method"):
        mb.load(path)


def test_frames_between_instants_deform(result: mb.Result) -> None:
    frames = list(Frames.of(result, 400.0, 1.0, None, None))
    assert len(frames) == 21
    assert frames[-1].motion("rod").modal_coordinates == pytest.approx(result.modal("rod")[-1], abs=1e-12)
    fine = mb.simulate(result.system, 0.05, t_eval=[0.0, 0.0125])
    size = np.abs(result.modal("rod")).max()
    assert frames[5].motion("rod").modal_coordinates == pytest.approx(fine.modal("rod")[-1], abs=0.05 * size)


@pytest.mark.parametrize("kind", ["json", "h5"])
def test_bodies_that_share_modes_share_them_again(system: mb.System, tmp_path: Path, kind: str) -> None:
    twin = mb.System("copies", gravity=(0, 0, -9.81))
    for prefix in ("first ", "second "):
        twin.include(system, prefix)
    values = system["rod"].modes.to_values()
    values["frequencies"][0] = float(np.nextafter(values["frequencies"][0], np.inf))
    twin.add(mb.FlexibleBody("other", mb.flexible.Modes.from_values(values)))
    path = tmp_path / f"copies.{kind}"
    if kind == "json":
        mb.save(twin, path)
        loaded = mb.load(path)
    else:
        mb.simulate(twin, 1e-3, t_eval=[0.0, 1e-3]).save(path)
        loaded = mb.load_result(path).system
    assert loaded["first rod"].modes is loaded["second rod"].modes
    assert loaded["other"].modes is not loaded["first rod"].modes
    assert loaded["other"].modes.frequencies[0] == values["frequencies"][0]
