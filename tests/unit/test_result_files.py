"""Results in HDF5 files: nothing is lost on the way, and a run that is killed keeps what it had."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

import mbframe as mb
from mbframe.disk import room
from mbframe.files import result_files, result_layout, result_streams
from mbframe.files.hdf5 import checksum


class Magnet(mb.ForceElement):
    strength = mb.parameter(1.0, unit="N m^2", minimum=0.0, help="attraction at one metre")

    def wrench(self, t, i, j):
        d = i.position - j.position
        return self.strength * d / np.linalg.norm(d) ** 3, np.zeros(3)


def pendulum(name: str = "bar") -> mb.System:
    """A bar on a ball joint, with a spring, a controller with a state of its own, and a measure."""
    system = mb.System("pendulum")
    bar = system.add(mb.RigidBody(name, mass=2.0, inertia=(0.053, 2.693, 2.693), position=(2, 0, 0)))
    system.add(mb.SphericalJoint("A", system.ground, bar, at=(0, 0, 0)))
    system.add(
        mb.SpringDamper(
            "spring", system.ground, bar, at_i=(4, 0, 3), at_j=(4, 0, 0), stiffness=200.0, damping=15.0, free_length=0.0
        )
    )
    system.add(
        mb.PIDActuator("motor", system.ground, bar, at=(0, 0, 0), axis=(0, 0, 1), proportional=3.0, integral=2.0)
    )
    system.add(mb.Distance("stroke", system.ground, bar, at_i=(4, 0, 3), at_j=(4, 0, 0)))
    return system


def free(**values) -> mb.System:
    """A point that flies: x = t, z = t - 5 t^2."""
    system = mb.System("flight", gravity=(0, 0, -10))
    system.add(mb.PointMass("stone", mass=1.0, velocity=(1, 0, 1), **values))
    return system


RUN = {
    "formulation": mb.NaturalAbsolute(),
    "stabilization": mb.Baumgarte(alpha=20.0, beta=20.0),
    "integrator": mb.DormandPrince(rtol=1e-8),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[mb.Result, mb.Result]:
    """A result, and itself from a file."""
    event = mb.Event(lambda t, state: state.position("bar")[2] - 0.5, name="high")
    result = mb.simulate(pendulum(), 1.5, events=[event], **RUN)
    path = tmp_path_factory.mktemp("results") / "run.h5"
    result.save(path, quantities=["A.reaction.force"])
    return result, mb.load_result(path)


# --- nothing is lost -------------------------------------------------------------------------------------------------


def test_a_loaded_result_gives_all_that_the_original_gives(made):
    """With the strategies of the run: Baumgarte's feedback is part of the accelerations."""
    result, loaded = made
    for part in ("t", "q", "v", "z", "v_rate", "multipliers"):
        assert np.array_equal(getattr(loaded, part), getattr(result, part)), part
    names = result.quantities()
    assert len(names) > 60
    assert loaded.quantities() == names
    for name in names:
        assert np.array_equal(loaded.quantity(name).values, result.quantity(name).values), name
    bar = result.system["bar"]
    assert np.array_equal(loaded.position("bar", (2, 0, 0)), result.position(bar, (2, 0, 0)))
    assert np.array_equal(loaded.rotation("bar").as_matrix(), result.rotation(bar).as_matrix())
    assert np.array_equal(loaded.reaction("A").torque, result.reaction("A").torque)
    assert loaded.info == result.info
    assert repr(loaded) == repr(result)


def test_events_and_states_come_back(made):
    result, loaded = made
    assert result.events
    assert [(e.name, e.t) for e in loaded.events] == [(e.name, e.t) for e in result.events]
    for a, b in [*zip(result.events, loaded.events, strict=True)]:
        assert np.array_equal(a.state.motions["bar"].rotation, b.state.motions["bar"].rotation)
    for index in (0, -1):
        assert np.array_equal(loaded.state(index).position("bar"), result.state(index).position("bar"))
        assert loaded.state(index).element_states["motor"] == result.state(index).element_states["motor"]


def test_a_run_can_go_on_from_a_loaded_state(made):
    result, loaded = made
    further = [mb.simulate(r.system, 1.6, initial=r.state(-1), **RUN).q for r in made]
    assert np.array_equal(*further)
    assert result is not loaded


def test_the_file_explains_itself_to_plain_h5py(made):
    result, loaded = made
    with h5py.File(loaded.states.path, "r") as file:
        assert file.attrs["format"].decode() == "mbframe result"
        assert file.attrs["mbframe"].decode() == mb.__version__
        names, units = file["names/q"].asstr()[:], file["units/q"].asstr()[:]
        assert list(names[:4]) == ["bar.position.x", "bar.position.y", "bar.position.z", "bar.axis_x.x"]
        assert list(units[:4]) == ["m", "m", "m", ""]
        assert np.array_equal(file["q"][:, 2], result.position("bar")[:, 2])
        names, units = (list(file[f"{kind}/z"].asstr()[:]) for kind in ("names", "units"))
        assert names == ["motor.state.0", "motor.counted_angle", "spring.delivered", "motor.delivered"]
        assert units == ["", "rad", "J", "J"]
        force = file["quantities/A.reaction.force.z"]
        assert force.attrs["unit"] == b"N"
        assert np.array_equal(force[:], result.reaction("A").force[:, 2])
        model = json.loads(file["model"][()])
        assert model["name"] == "pendulum"
        assert model["simulation"]["stabilization"] == {"type": "Baumgarte", "alpha": 20.0, "beta": 20.0}
        assert file["q"].compression == "gzip"
        assert file["q"].chunks[1] == 1


def test_a_result_belongs_to_the_model_as_it_was_in_the_run(tmp_path):
    system = free()
    result = mb.simulate(system, 1.0)
    system["stone"].mass = 7.0
    system.gravity = (0, 0, 0)
    result.save(tmp_path / "run.h5")
    loaded = mb.load_result(tmp_path / "run.h5")
    assert loaded.system["stone"].mass == 1.0
    assert np.array_equal(loaded.energy.total, result.energy.total)


def test_a_loaded_result_can_be_saved_again_in_its_place(tmp_path):
    mb.simulate(free(), 1.0).save(tmp_path / "run.h5")
    loaded = mb.load_result(tmp_path / "run.h5")
    loaded.save(tmp_path / "run.h5", quantities=["energy.total"])
    again = mb.load_result(tmp_path / "run.h5")
    again.save(tmp_path / "run.h5")
    assert np.array_equal(again.q, loaded.q)
    assert "energy.total" in h5py.File(tmp_path / "run.h5")["quantities"]


# --- without the classes that made it --------------------------------------------------------------------------------


def test_what_is_stored_needs_no_class_of_the_user(tmp_path):
    system = free()
    system.add(Magnet("magnet", system.ground, system["stone"], at_i=(0, 0, 9)))
    result = mb.simulate(system, 1.0)
    result.save(tmp_path / "run.h5", quantities=["magnet.force.z"])
    loaded = mb.load_result(tmp_path / "run.h5")
    assert np.array_equal(loaded.q, result.q)
    assert np.array_equal(loaded.quantity("stone.position.z").values, result.position("stone")[:, 2])
    assert np.array_equal(loaded.quantity("magnet.force.z").values, result.quantity("magnet.force.z").values)
    assert set(loaded.quantities()) == {*loaded.states.stored_units(), "t"}
    assert len(loaded.plot("stone.velocity.x", "magnet.force.z").axes) == 2
    with pytest.raises(mb.ModelError, match="Magnet"):
        loaded.energy  # noqa: B018
    known = mb.load_result(tmp_path / "run.h5", classes=[Magnet])
    assert np.array_equal(known.energy.total, result.energy.total)


def test_a_model_that_cannot_be_stored_is_asked_for(tmp_path):
    def build() -> mb.System:
        system = free()
        system.add(mb.PointForce("wind", system["stone"], force=(lambda t: 2.0 * t, 0.0, 0.0)))
        return system

    result = mb.simulate(build(), 1.0, output=tmp_path / "run.h5")
    assert "wind" in result.info.warnings[-1]
    loaded = mb.load_result(tmp_path / "run.h5")
    assert np.array_equal(loaded.q, result.q)
    with pytest.raises(mb.ModelError, match=r"lacks its model.*wind.*system="):
        loaded.system  # noqa: B018
    helped = mb.load_result(tmp_path / "run.h5", system=build())
    assert np.array_equal(helped.acceleration("stone"), result.acceleration("stone"))
    with pytest.raises(mb.ModelError, match="other coordinates"):
        mb.load_result(tmp_path / "run.h5", system=pendulum()).position("bar")


# --- streaming -------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 16 rows, so that a short run has many of them and an incomplete one."""
    monkeypatch.setattr(result_layout, "FEWEST_ROWS", 16)
    monkeypatch.setattr(result_layout, "BLOCK_NUMBERS", 16)


@pytest.mark.parametrize("instants", [None, np.linspace(0.0, 1.5, 301)])
@pytest.mark.parametrize("watched", [False, True])
def test_a_streamed_run_is_the_run_in_memory(tmp_path, small_blocks, instants, watched):
    events = [mb.Event(lambda t, s: s.position("bar")[2] + 1.0, terminal=True, name="low")] if watched else []
    options = {"t_eval": instants, "events": events, "integrator": mb.DormandPrince(rtol=1e-9)}
    plain = mb.simulate(pendulum(), 1.5, **options)
    streamed = mb.simulate(pendulum(), 1.5, output=tmp_path / "run.h5", **options)
    loaded = mb.load_result(tmp_path / "run.h5")
    assert len(plain) > 32
    for result in (streamed, loaded):
        assert np.array_equal(result.t, plain.t)
        assert np.array_equal(result.q, plain.q)
        assert np.array_equal(result.z, plain.z)
        assert [e.t for e in result.events] == [e.t for e in plain.events]
        assert result.info.steps == plain.info.steps
        assert result.info.completed
        assert np.array_equal(result.state(-1).position("bar"), plain.state(-1).position("bar"))
        assert np.array_equal(result.state(17).position("bar"), plain.state(17).position("bar"))


def test_what_was_loaded_during_a_run_stays_right(tmp_path, small_blocks, monkeypatch):
    """Rows that were in the tail when the file was loaded are elsewhere when they are read."""
    monkeypatch.setattr(result_streams, "CHECKPOINT_SECONDS", 0.0)
    loaded: list[mb.Result] = []

    def look(t: float) -> None:
        if t > 0.02 + 0.1 * len(loaded):
            loaded.append(mb.load_result(tmp_path / "run.h5"))

    plain = mb.simulate(free(), 1.0, dt=1e-3, output=tmp_path / "run.h5", progress=look)
    assert len({len(result) for result in loaded}) > 3
    for result in loaded:
        n = len(result)
        assert np.array_equal(result.t, plain.t[:n])
        assert np.array_equal(result.v, plain.v[:n])
        assert result.states.span() == (0.0, plain.t[n - 1])
        assert np.array_equal(result.state(-1).position("stone"), plain.state(n - 1).position("stone"))


def test_an_interrupted_run_keeps_what_it_had(tmp_path):
    def stop(t: float) -> None:
        if t > 0.5:
            raise KeyboardInterrupt

    result = mb.simulate(free(), 1e6, dt=1e-3, output=tmp_path / "run.h5", progress=stop)
    loaded = mb.load_result(tmp_path / "run.h5")
    for r in (result, loaded):
        assert r.t[-1] > 0.5
        assert np.allclose(r.position("stone")[:, 2], r.t - 5.0 * r.t**2, atol=1e-9)
        assert "stopped by the user" in r.info.warnings[-1]


def test_a_failed_run_keeps_what_it_had(tmp_path):
    def fail(t, state):
        if t > 0.505:
            raise ZeroDivisionError("no")
        return 1.0

    with pytest.raises(mb.SimulationError) as caught:
        mb.simulate(free(), 1.0, dt=1e-2, output=tmp_path / "run.h5", events=[fail])
    for r in (caught.value.result, mb.load_result(tmp_path / "run.h5")):
        assert r.t[-1] == pytest.approx(0.51)
        assert not r.info.completed


def test_what_a_progress_function_raises_closes_the_file(tmp_path):
    def fail(t: float) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        mb.simulate(free(), 1.0, dt=1e-3, output=tmp_path / "run.h5", progress=fail)
    with h5py.File(tmp_path / "run.h5", "r") as file:  # refused for files that are still being written
        assert len(file["t"]) == file["written"][0] > 0


PROGRAM = """
    import resource, sys
    import mbframe as mb
    from mbframe.files import result_streams

    system = mb.System("flight", gravity=(0, 0, -10))
    system.add(mb.PointMass("stone", mass=1.0, velocity=(1, 0, 1)))
    {code}
"""


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    program = textwrap.dedent(PROGRAM).format(code=code)
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


@pytest.mark.parametrize("blocks", [2, 0])
def test_a_killed_run_keeps_what_it_had(tmp_path, blocks):
    """SIGKILL while it writes blocks, or when it has only its checkpoints."""
    path = tmp_path / "run.h5"
    pause = "" if blocks else ", progress=lambda t: __import__('time').sleep(0.01)"
    code = f"result_streams.CHECKPOINT_SECONDS = 0.05; mb.simulate(system, 1e9, dt=1e-4, output=sys.argv[1]{pause})"
    process = child(code, path)
    try:
        seen = 0
        deadline = time.monotonic() + 300.0
        while seen < max(blocks * result_layout.MOST_ROWS, 100):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
            if path.exists():
                seen = len(mb.load_result(path))  # while it is written
    finally:
        process.kill()
        process.communicate()
    loaded = mb.load_result(path)
    assert len(loaded) >= seen
    assert loaded.t[0] == 0.0
    assert loaded.states.span() == (0.0, loaded.t[-1])
    assert np.allclose(np.diff(loaded.t), 1e-4)
    z, size = loaded.position("stone")[:, 2], loaded.t[-1] ** 2
    assert np.allclose(z, loaded.t - 5.0 * loaded.t**2, atol=1e-7 * size + 1e-9)
    assert np.allclose(loaded.v[:, 0], 1.0)
    assert not loaded.info.completed
    assert "ended from outside" in loaded.info.warnings[-1]
    loaded.save(tmp_path / "rescued.h5")
    rescued = mb.load_result(tmp_path / "rescued.h5")
    assert np.array_equal(rescued.q, loaded.q)
    assert np.array_equal(rescued.state(-1).position("stone"), loaded.state(-1).position("stone"))


def test_a_file_that_grows_while_it_is_looked_at_is_read(tmp_path, monkeypatch):
    """The arrays are looked at first; then the file says that it has more rows than they had."""
    check = result_files.check_content

    def until_it_has_grown(file, path, size):
        check(file, path, size)
        while path.stat().st_size < size + 2_000_000:
            time.sleep(0.01)

    path = tmp_path / "run.h5"
    process = child("mb.simulate(system, 1e9, dt=1e-4, output=sys.argv[1])", path)
    try:
        while not path.exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        monkeypatch.setattr(result_files, "check_content", until_it_has_grown)
        loaded = mb.load_result(path)
        assert len(loaded) > result_layout.MOST_ROWS
        assert np.allclose(np.diff(loaded.t), 1e-4)
    finally:
        process.kill()
        process.communicate()


def test_a_disk_that_fills_up_ends_the_run_with_all_that_was_computed(tmp_path, monkeypatch):
    """A block has 16384 rows of 7 numbers, 917,504 bytes: there is room for three, those in hand and the reserve."""
    monkeypatch.setattr(room, "_fallocate", lambda: None)
    free_bytes = iter(range(room.SPARE + 7_000_000, 0, -1_000_000))
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=next(free_bytes)))
    with pytest.raises(mb.SimulationError, match=r"output .*run\.h5.* could not be written: No space left") as caught:
        mb.simulate(free(), 1e4, dt=1e-4, output=tmp_path / "run.h5")
    loaded = mb.load_result(tmp_path / "run.h5")
    assert len(loaded) == len(caught.value.result) > 2 * result_layout.MOST_ROWS
    assert loaded.t[-1] == caught.value.time  # nothing that was computed is lost
    assert np.allclose(loaded.position("stone")[:, 0], loaded.t)
    assert not loaded.info.completed


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of file sizes")
@pytest.mark.parametrize("megabytes", [7, 12])
def test_a_disk_that_refuses_to_write_leaves_a_readable_file(tmp_path, megabytes):
    """Whoever computed the rows says which was the last; the process ends as it should."""
    code = (
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({megabytes}_000_000, {megabytes}_000_000))\n"
        "try:\n    mb.simulate(system, 1e4, dt=1e-4, output=sys.argv[1])\n"
        "except mb.SimulationError as error:\n    print(error, error.result); print(repr(error.time))\n"
    )
    process = child(code, tmp_path / "run.h5")
    out, errors = process.communicate(timeout=150)
    assert "could not be written: File too large" in out, errors
    assert process.returncode == 0, errors
    loaded = mb.load_result(tmp_path / "run.h5")
    assert len(loaded) > 10_000
    assert repr(float(loaded.t[-1])) == out.splitlines()[-1]
    assert np.allclose(loaded.position("stone")[:, 0], loaded.t)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of file sizes")
def test_a_disk_without_room_for_a_run_is_refused_before_it(tmp_path):
    code = (
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))\n"
        "try:\n    mb.simulate(system, 1e9, dt=1e-4, output=sys.argv[1])\n"
        "except mb.ModelError as error:\n    print(error)\n"
    )
    process = child(code, tmp_path / "run.h5")
    out, errors = process.communicate(timeout=150)
    assert "could not be written: File too large" in out, errors
    assert process.returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs locks of open file descriptions")
def test_a_file_that_a_run_writes_is_nobody_elses(tmp_path):
    """The second run is refused before it begins, and so is saving; what the first returns is its own."""
    path, met = tmp_path / "run.h5", []
    other = mb.simulate(free(), 0.1)

    def meddle(t: float) -> None:
        if not met:
            for attempt in (lambda: mb.simulate(free(), 9.0, dt=1.0, output=path), lambda: other.save(path)):
                with pytest.raises(mb.ModelError, match=r"run\.h5.*is being written by a run that goes on") as caught:
                    attempt()
                met.append(caught.value)

    result = mb.simulate(free(), 0.5, dt=1e-3, output=path, progress=meddle)
    assert len(met) == 2
    assert result.t[-1] == mb.load_result(path).t[-1] == pytest.approx(0.5)
    assert [file.name for file in tmp_path.iterdir()] == ["run.h5"]
    other.save(path)  # the run has ended


def test_rows_whose_name_was_taken_get_another(tmp_path):
    path = tmp_path / "run.h5"
    mb.simulate(free(), 0.1).save(tmp_path / "other.h5")

    def take_its_name(t: float) -> None:
        if (tmp_path / "other.h5").exists():
            os.replace(tmp_path / "other.h5", path)

    if os.name != "posix":
        pytest.skip("an open file cannot be replaced")
    result = mb.simulate(free(), 0.5, dt=1e-3, output=path, progress=take_its_name)
    assert result.t[-1] == pytest.approx(0.5)
    assert "was removed or replaced" in result.info.warnings[-1]
    (own,) = set(tmp_path.iterdir()) - {path}
    assert np.array_equal(mb.load_result(own).q, result.q)
    assert mb.load_result(path).t[-1] == pytest.approx(0.1)


def test_a_file_without_its_end_keeps_what_is_there(tmp_path):
    """As a full disk leaves it, which did not take the last bytes of a file that was closed."""
    whole = mb.simulate(mb.examples.simple_pendulum(), 0.1, dt=1e-3)
    whole.save(tmp_path / "run.h5")
    content = (tmp_path / "run.h5").read_bytes()
    (tmp_path / "run.h5").write_bytes(content[:-64])
    assert np.array_equal(mb.load_result(tmp_path / "run.h5").t, whole.t)
    (tmp_path / "run.h5").write_bytes(content[:3000])
    with pytest.raises(mb.ModelError, match=r"is damaged|cannot be read"):
        mb.load_result(tmp_path / "run.h5")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_memory_and_reading_stay_bounded(tmp_path):
    """300,000 rows of a point: the file is larger than what a run may add to the memory it started with."""
    code = (
        "peak = lambda: next(int(l.split()[1]) for l in open('/proc/self/status') if l.startswith('VmHWM'))\n"
        "mb.simulate(system, 0.1, dt=1e-3, output=sys.argv[1])\n"
        "before = peak()\n"
        "result = mb.simulate(system, 300.0, dt=1e-3, output=sys.argv[1])\n"
        "print(len(result), peak() - before)\n"
    )
    path = tmp_path / "run.h5"
    out, errors = child(code, path).communicate(timeout=150)
    rows, added = map(int, out.split())
    unpacked = 8 * 7 * rows  # t, q, v
    assert rows == 300_001, errors
    assert 1024 * added < unpacked / 2
    with h5py.File(path) as file:
        one = file["q"].id.get_num_chunks() // 3
        per_column = [file["q"].id.get_chunk_info(k) for k in range(3 * one)]
        assert {info.chunk_offset[1] for info in per_column} == {0, 1, 2}
        assert one == -(-rows // file["q"].chunks[0])


# --- bad files -------------------------------------------------------------------------------------------------------


def test_files_that_are_no_results(tmp_path):
    (tmp_path / "text.h5").write_text("no")
    h5py.File(tmp_path / "other.h5", "w").close()
    for name, message in (("text.h5", "cannot be read"), ("other.h5", "not a result"), ("none.h5", "no such file")):
        with pytest.raises(mb.ModelError, match=message):
            mb.load_result(tmp_path / name)


def test_other_files_are_not_overwritten(tmp_path):
    result = mb.simulate(free(), 0.1)
    precious = tmp_path / "thesis.h5"
    precious.write_text("chapter 1")
    for attempt in (lambda: result.save(precious), lambda: mb.simulate(free(), 0.1, output=precious)):
        with pytest.raises(mb.ModelError, match="not a result of mbframe"):
            attempt()
    assert precious.read_text() == "chapter 1"
    empty = tmp_path / "empty.h5"
    empty.touch()
    result.save(empty)
    assert len(mb.load_result(empty)) == len(result)


def test_places_that_cannot_be_written_are_refused_before_computing(tmp_path):
    def never(t, state):
        raise AssertionError

    with pytest.raises(mb.ModelError, match="no folder"):
        mb.simulate(free(), 1.0, output=tmp_path / "missing" / "run.h5", events=[never])


def test_a_refused_run_leaves_the_old_result(tmp_path):
    mb.simulate(free(), 0.5, output=tmp_path / "run.h5")
    with pytest.raises(mb.ModelError):
        mb.simulate(free(), 1.0, integrator=mb.RungeKutta4(), output=tmp_path / "run.h5")
    assert mb.load_result(tmp_path / "run.h5").t[-1] == 0.5


def test_a_file_that_was_replaced_is_noticed(tmp_path):
    old = mb.simulate(free(), 0.5, output=tmp_path / "run.h5")
    mb.simulate(free(), 1.0, output=tmp_path / "run.h5")
    with pytest.raises(mb.ModelError, match="replaced"):
        old.q  # noqa: B018


@pytest.mark.parametrize("lost", ["t", "q", "model", "names/q", "written", "log"])
def test_a_damaged_file_is_a_clear_error(tmp_path, lost):
    mb.simulate(free(), 0.5).save(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        del file[lost]

    def read() -> None:
        loaded = mb.load_result(tmp_path / "run.h5")
        assert len(loaded.t) == len(loaded.position("stone"))

    with pytest.raises(mb.ModelError, match="damaged"):
        read()


def left_by_a_killed_run(path: Path) -> None:
    """Mark a file as one that is being written."""
    with path.open("r+b") as file:
        head = bytearray(file.read(44))
        head[11] |= 0b101
        file.seek(0)
        file.write(head + checksum(head).to_bytes(4, "little"))


def test_damage_in_a_file_that_is_being_written_is_told(tmp_path):
    """HDF5 itself would take the damage for a write under way, and wait for it forever."""
    path = tmp_path / "run.h5"
    mb.simulate(free(), 0.5).save(path)
    left_by_a_killed_run(path)
    assert len(mb.load_result(path).q) > 0
    content = path.read_bytes()
    place = content.index(b"OHDR") + 20  # in the header of the root
    path.write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
    with pytest.raises(mb.ModelError, match=r"damaged|cannot be read"):
        mb.load_result(path)


def test_checksums_of_metadata(tmp_path):
    """The value in the author's test driver, and one that HDF5 wrote itself."""
    assert checksum(b"Four score and seven years ago") == 0x17770551
    h5py.File(tmp_path / "empty.h5", "w", libver="latest").close()
    head = (tmp_path / "empty.h5").read_bytes()[:48]
    assert checksum(head[:44]) == int.from_bytes(head[44:], "little")


def break_log(file: h5py.File) -> None:
    file["log"][:] = ord("{")


def lose_a_column(file: h5py.File) -> None:
    values = file["q"][:, 1:]
    del file["q"]
    file["q"] = values


def lose_rows(file: h5py.File) -> None:
    file["t"].resize(1, axis=0)


def forget_a_unit(file: h5py.File) -> None:
    del file["quantities/energy.total"].attrs["unit"]


def count_wrongly(file: h5py.File) -> None:
    file["written"][:] = (-3, 2)


@pytest.mark.parametrize("harm", [break_log, lose_a_column, lose_rows, forget_a_unit, count_wrongly])
def test_a_file_that_contradicts_itself_is_a_clear_error(tmp_path, harm):
    mb.simulate(free(), 0.5).save(tmp_path / "run.h5", quantities=["energy.total"])
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        harm(file)
    with pytest.raises(mb.ModelError, match="damaged"):
        mb.load_result(tmp_path / "run.h5")


def test_a_newer_version_is_refused(tmp_path):
    mb.simulate(free(), 0.5).save(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        file.attrs["version"] = 99
    with pytest.raises(mb.ModelError, match=r"version 99.*newer"):
        mb.load_result(tmp_path / "run.h5")


def test_a_result_without_instants(tmp_path):
    def stop(t: float) -> None:
        raise KeyboardInterrupt

    result = mb.simulate(free(), 1.0, t_eval=[0.9], dt=1e-3, progress=stop, output=tmp_path / "run.h5")
    assert len(result) == 0
    assert len(mb.load_result(tmp_path / "run.h5").q) == 0
    assert "empty" in repr(result)
    assert os.path.getsize(tmp_path / "run.h5") < 2_000_000


class Thruster(mb.ForceElement):
    """A constant force along x."""

    push = mb.parameter(3.0, unit="N", help="force")

    def wrench(self, t, i, j):
        return np.array([self.push, 0.0, 0.0]), np.zeros(3)


def test_a_streamed_run_knows_the_classes_of_its_system(tmp_path):
    """The result of the run itself needs no classes=...: its system is there. x = push/m t^2/2."""
    system = mb.System("probe", gravity=(0, 0, 0))
    probe = system.add(mb.PointMass("probe", mass=2.0))
    system.add(Thruster("thruster", system.ground, probe))
    result = mb.simulate(system, 1.0, t_eval=[0.0, 1.0], output=tmp_path / "run.h5")
    np.testing.assert_allclose(result.position(probe)[-1], (0.75, 0, 0), atol=1e-12)
    np.testing.assert_allclose(result.quantity("thruster.force.x").values, 3.0)
    np.testing.assert_allclose(result.momentum.linear[-1], (3.0, 0, 0), atol=1e-12)


def test_a_planar_result_without_its_model_is_planar(tmp_path):
    """A Python function cannot be in a file; the system that is given says that the motion is one of the plane."""
    system = mb.System("push", dimension=2, gravity=(0, 0))
    block = system.add(mb.PlanarBody("block", mass=2.0, inertia=1.0, angle=4.0))
    system.add(mb.PointForce("push", block, force=(lambda t: 6.0 * t, 0.0)))
    mb.simulate(system, 1.0, t_eval=[0.0, 1.0]).save(tmp_path / "run.h5")
    again = mb.load_result(tmp_path / "run.h5", system=system)
    np.testing.assert_allclose(again.position("block")[-1], (0.5, 0.0), atol=1e-9)
    np.testing.assert_allclose(again.angle("block"), 4.0)


def test_positions_in_a_file_need_no_compiled_code(tmp_path):
    """The application reads them in its window, which would wait for the compiler; functions are in the tables too."""
    system = mb.System("driven")
    arm = system.add(mb.RigidBody("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mb.Driver("motor", hinge, angle="sin(t)"))
    mb.simulate(system, 0.1).save(tmp_path / "run.h5")
    code = (
        "import sys, mbframe as mb; from mbframe.kernels.programs import overloads as programs; "
        "result = mb.load_result(sys.argv[1]); "
        "result.position('arm', local_point=(1, 0, 0)), result.velocity('arm'); print(programs.run._compiled)"
    )
    ran = subprocess.run([sys.executable, "-c", code, tmp_path / "run.h5"], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "None"
