"""Sweeps: order, failures, executors, what cannot be sent to other processes; plots of stability."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import mbframe as mb

STIFFNESSES = [25.0, 100.0, 400.0]


def oscillator(stiffness: float, damping: float = 0.0) -> mb.System:
    return mb.examples.mass_spring_damper_chain(n=1, mass=1.0, stiffness=stiffness, damping=damping)


def eigenvalues(system: mb.System) -> NDArray[np.complex128]:
    return mb.linearize(system).eigenvalues


def assert_frequencies(found: list[NDArray[np.complex128]]) -> None:
    for roots, stiffness in zip(found, STIFFNESSES, strict=True):
        assert roots == pytest.approx(np.array([-1j, 1j]) * np.sqrt(stiffness), abs=1e-12)


# --- points -----------------------------------------------------------------------------------------------------------


def test_results_are_in_the_order_of_the_values() -> None:
    assert_frequencies(mb.sweep(oscillator, STIFFNESSES, eigenvalues))


def test_failures_are_kept_where_they_happen() -> None:
    found = mb.sweep(oscillator, [100.0, -1.0, 25.0], eigenvalues)
    assert isinstance(found[1], mb.Failure)
    assert found[1].value == -1.0
    assert isinstance(found[1].error, mb.ModelError)
    assert "stiffness" in str(found[1])
    assert found[2] == pytest.approx(np.array([-5j, 5j]), abs=1e-12)


def test_values_may_be_anything() -> None:
    assert mb.sweep(lambda pair: pair, [("a", 2), ("b", 3)], lambda pair: pair[0] * pair[1]) == ["aa", "bbb"]
    assert mb.sweep(str, [], len) == []


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    mb.sweep(str, range(3), len, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_bar_can_be_shown() -> None:
    assert mb.sweep(str, range(3), len, progress=True) == [1, 1, 1]


# --- executors --------------------------------------------------------------------------------------------------------


def test_threads() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert_frequencies(mb.sweep(oscillator, STIFFNESSES, eigenvalues, pool))


def test_processes() -> None:
    build = partial(mb.examples.mass_spring_damper_chain, 1, 1.0, damping=0.0)
    found = mb.sweep(build, [*STIFFNESSES, -1.0], mb.linearize, "processes")
    assert isinstance(found.pop().error, mb.ModelError)
    assert_frequencies([lin.eigenvalues for lin in found])
    assert found[0].modes[0].state(0.1).position("mass 1")[0] == pytest.approx(1.1)


def test_lambdas_go_to_processes_by_cloudpickle_and_a_dead_process_is_a_failure() -> None:
    pytest.importorskip("cloudpickle", reason="cloudpickle comes with the extra 'cluster'")
    scale = 3
    assert mb.sweep(lambda v: scale * v, [1, 2], lambda v: v + 1, "processes") == [4, 7]
    found = mb.sweep(lambda v: v, [1, 2], lambda v: os._exit(v), "processes")
    assert [failure.value for failure in found] == [1, 2]
    assert all("__main__" in str(failure.error) for failure in found)


def test_what_cannot_be_sent_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(mb.ModelError, match=r"sweep, executor: .*lambda.*top level.*cloudpickle"):
        mb.sweep(lambda v: v, [1, 2], str, "processes")


def test_an_unknown_executor_is_refused() -> None:
    with pytest.raises(mb.ModelError, match=r"sweep, executor: found 'cluster'.*processes"):
        mb.sweep(oscillator, STIFFNESSES, eigenvalues, "cluster")


def test_interruption_cancels_what_waits() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    class Waiting:
        cancelled = 0

        def submit(self, function, value):
            return self

        def result(self) -> int:
            return 1

        def cancel(self) -> None:
            self.cancelled += 1

    pool = Waiting()
    with pytest.raises(KeyboardInterrupt):
        mb.sweep(str, range(5), len, pool, progress=stop)
    assert pool.cancelled == 5


@pytest.mark.filterwarnings("default")
def test_dask_cluster_whose_workers_may_die(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        build = partial(mb.examples.mass_spring_damper_chain, 1, 1.0, damping=0.0)
        executor = client.get_executor()
        found = mb.sweep(build, [*STIFFNESSES, -1.0], lambda s: mb.linearize(s).eigenvalues, executor)
        runs = mb.sweep(build, STIFFNESSES, partial(mb.simulate, t_end=0.5, dt=1e-2), executor)
        assert mb.sweep(int, [13, 14], partial(die_at_first, tmp_path), executor) == [26, 28]
        assert isinstance(found.pop().error, mb.ModelError)
        assert_frequencies(found)
    for run, stiffness in zip(runs, STIFFNESSES, strict=True):
        np.testing.assert_array_equal(run.energy.total, mb.simulate(oscillator(stiffness), 0.5, dt=1e-2).energy.total)


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_locus_without_any_root_is_an_error() -> None:
    with pytest.raises(mb.AnalysisError, match=r"root_locus: none of the 2 points .*stiffness"):
        mb.root_locus(oscillator, [-1.0, -2.0])
    with pytest.raises(mb.AnalysisError, match=r"stability_map: none .*it must return a system"):
        mb.stability_map(lambda a, b: a, [1.0], [2.0])


def test_critical_values_name_what_is_wrong() -> None:
    with pytest.raises(mb.ModelError, match="critical_values, interval"):
        mb.critical_values(oscillator, (3.0, 1.0))
    with pytest.raises(mb.AnalysisError, match=r"no roots at -1\.0: ModelError.*stiffness"):
        mb.critical_values(oscillator, (-1.0, 1.0), points=3)


def test_sensitivity_lists_what_can_be_varied() -> None:
    system = oscillator(100.0)
    with pytest.raises(mb.ModelError, match=r"'spring 1', stifness: .*stiffness, damping"):
        mb.sensitivity(system, "spring 1", "stifness")
    with pytest.raises(mb.ModelError, match="rotation"):
        mb.sensitivity(system, "mass 1", "rotation")


# --- one parameter of a system ----------------------------------------------------------------------------------------


def test_a_parameter_of_a_system_is_varied_on_copies() -> None:
    system = oscillator(100.0, 2.0)
    build = mb.vary(system, "spring 1", "stiffness")
    locus = mb.root_locus(build, STIFFNESSES)
    for stiffness, roots in zip(STIFFNESSES, locus.eigenvalues, strict=True):
        np.testing.assert_allclose(np.sort_complex(roots), np.sort_complex(np.roots([1.0, 2.0, stiffness])), atol=1e-10)
    assert system["spring 1"].stiffness == 100.0  # type: ignore[attr-defined]
    system["spring 1"].damping = 50.0  # type: ignore[attr-defined]
    assert build(4.0)["spring 1"].damping == 2.0  # the system as it was
    made = mb.sweep(mb.vary(system, system["mass 1"], "mass"), [1.0, 2.0], lambda s: s["mass 1"].mass)
    assert made == [1.0, 2.0]


def test_components_and_states_of_a_varied_parameter() -> None:
    system = mb.System("pendulum")
    bar = system.add(mb.RigidBody("bar", mass=2.0, inertia=(0.5, 0.5, 0.1), position=(0, 0, -1.0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    for element, parameter, index, value, expected in [
        (bar, "inertia", (1, 1), 0.55, 2.0 * 9.81 / 2.55),
        (system, "gravity", 2, -4.0, 2.0 * 4.0 / 2.5),
    ]:
        roots = mb.linearize(mb.vary(system, element, parameter, index)(value)).eigenvalues
        np.testing.assert_allclose(np.abs(roots) ** 2, expected, rtol=1e-10)
    inclined = mb.vary(system, "pendulum", "gravity", 0, state=mb.equilibrium)(3.0)
    np.testing.assert_allclose(np.abs(inclined.eigenvalues) ** 2, 2.0 * np.hypot(3.0, 9.81) / 2.5, rtol=1e-9)
    tensor = mb.vary(system, bar, "inertia", (0, 1))(0.02)["bar"].inertia
    assert tensor[0, 1] == tensor[1, 0] == 0.02


def test_what_cannot_be_varied_is_named() -> None:
    system = oscillator(100.0)
    with pytest.raises(mb.ModelError, match=r"'spring 1', stifness: .*stiffness, damping"):
        mb.vary(system, "spring 1", "stifness")
    with pytest.raises(mb.ModelError, match=r"position: .*index 3.*\(3,\)"):
        mb.vary(system, "mass 1", "position", 3)
    with pytest.raises(mb.ModelError, match=r"mass: .*index 0"):
        mb.vary(system, "mass 1", "mass", 0)


def test_a_motion_cannot_be_disturbed_along_an_ignorable_mode() -> None:
    free = mb.System("free", gravity=(0, 0, 0))
    free.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)))
    with pytest.raises(mb.AnalysisError, match="all roots are ignorable"):
        mb.perturb_and_simulate(free)
    with pytest.raises(mb.ModelError, match="perturb_and_simulate, mode"):
        mb.perturb_and_simulate(free, mb.linearize(free).modes[0])


# --- plots ------------------------------------------------------------------------------------------------------------


def test_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    damping = np.linspace(1.0, 30.0, 9)
    locus = mb.root_locus(lambda c: oscillator(100.0, c), damping)
    stiffness = np.linspace(10.0, 90.0, 3)
    pictures = [
        locus.plot(label="damping (N s/m)"),
        locus.plot(plane=True, theme="dark"),
        mb.stability_map(oscillator, stiffness, damping).plot(labels=("stiffness (N/m)", "damping (N s/m)")),
        mb.stability_map(oscillator, stiffness, [0.0, 1.0]).plot(),
        mb.sensitivity(oscillator(100.0, 2.0), "spring 1", "damping").plot(),
        mb.sensitivity(oscillator(100.0, 2.0), "mass 1", "inertia").plot(),
    ]
    for number, picture in enumerate(pictures):
        picture.save(tmp_path / f"{number}.png")
    speeds = np.linspace(3.0, 7.0, 9)
    bicycles = mb.root_locus(mb.examples.whipple_bicycle, speeds)
    critical = mb.critical_values(mb.examples.whipple_bicycle, (3.0, 7.0), points=5)
    over, plane = (bicycles.plot(critical=critical, plane=plane) for plane in (False, True))
    for picture in (over, plane):
        labels = [text.get_text() for text in picture.axes[0].get_legend().get_texts()]
        assert {"Hopf, 4.29238", "divergence, 6.02426"} <= set(labels)
    marks = [line.get_xdata()[0] for line in over.axes[0].lines if line.get_marker() == "D" and len(line.get_xdata())]
    assert marks == pytest.approx([4.29238253634111, 6.02426201538837], abs=1e-9)
    swing = next(line for line in plane.axes[0].lines if line.get_label().startswith("Hopf"))
    assert list(swing.get_ydata()) == pytest.approx([-critical[0].eigenvalue.imag, critical[0].eigenvalue.imag])
    real = pictures[0].axes[0]
    assert pictures[0].axes[1].get_xlabel() == "damping (N s/m)"
    drawn = [line for line in real.lines if len(line.get_xdata()) == len(damping)]
    assert np.allclose(np.sort([line.get_ydata()[-1] for line in drawn]), np.sort(locus.eigenvalues[-1].real))


STOPPED = """
import os, signal, sys, time
from mbframe.analysis.parameters.executors import chosen, results

def slow(x):
    time.sleep(600.0 if x else 0.0)
    return x

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with chosen("processes", "test", 9, lambda: None) as pool:
            for _ in results(pool, slow, range(9), lambda value, error: error):
                os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        print("stopped")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_processes_without_a_word_of_theirs(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(STOPPED)
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, timeout=170)
    assert (done.stdout, done.stderr) == ("stopped\n", "")


# --- processes that die -----------------------------------------------------------------------------------------------


def die_at_first(folder: Path, value: int) -> int:
    """A number; of every tenth value the first process that is asked dies."""
    mark = folder / str(value)
    if value % 10 == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), 9)
    return 2 * value


def die(value: int) -> int:
    if value % 7 == 5:
        os._exit(1)
    return -value


def test_a_process_that_dies_costs_nothing_if_it_was_bad_luck(tmp_path: Path) -> None:
    assert mb.sweep(int, range(25), partial(die_at_first, tmp_path), "processes") == [2 * k for k in range(25)]


def test_values_that_kill_their_process_are_failures_and_the_others_are_not() -> None:
    told: list[int] = []
    found = mb.sweep(int, range(14), die, "processes", progress=lambda done, total: told.append(done))
    assert told == list(range(1, 15))
    for value, one in enumerate(found):
        if value % 7 == 5:
            assert isinstance(one, mb.Failure)
            assert one.value == value
            assert "nothing else to do" in str(one.error)
        else:
            assert one == -value
