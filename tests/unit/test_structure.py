"""The static factorization on chains, trees, loops and ladders against dense solutions; its cost; redundancy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import mbframe as mb
from mbframe.equations.structure import Block, Structure, analyze
from mbframe.kernels.compiler.compile import callable_from_python
from mbframe.kernels.linear_algebra import factorization
from mbframe.kernels.linear_algebra.factorization import EPSILON, PIVOT_LOST

factor_symmetric, substitute_symmetric, factor_general, substitute_general = (
    callable_from_python(dispatcher.py_func)
    for dispatcher in (
        factorization.factor_symmetric,
        factorization.substitute_symmetric,
        factorization.factor_general,
        factorization.substitute_general,
    )
)

FREEDOMS = 6


# --- random matrices [M J^T; J 0] of given topology ------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """A structure with the dense pattern that it was made for."""

    structure: Structure
    rows: np.ndarray
    columns: np.ndarray
    n_plain: int

    def matrix(self, rng: np.random.Generator, *, symmetric: bool, scalar: type) -> np.ndarray:
        """Random values on the pattern: positive definite masses, no entries between multipliers."""

        def numbers(size: int) -> np.ndarray:
            real = rng.normal(size=size)
            return real + 0.3j * rng.normal(size=size) if scalar is complex else real

        n = self.structure.n
        a = np.zeros((n, n), scalar)
        a[self.rows, self.columns] = numbers(len(self.rows))
        a[self.columns, self.rows] = a[self.rows, self.columns]
        if not symmetric:
            a[self.columns, self.rows] += 0.2 * numbers(len(self.rows))
        a[: self.n_plain, : self.n_plain] *= 0.2
        a[range(self.n_plain), range(self.n_plain)] = 3.0 + rng.uniform(size=self.n_plain)
        return a


def problem(n_bodies: int, links: list[tuple[tuple[int, ...], int]], couplings: list[tuple[int, int]] = ()) -> Problem:
    """Bodies of six freedoms, constraints (bodies, equations) and forces that couple two bodies."""
    blocks = [Block(FREEDOMS * k, FREEDOMS) for k in range(n_bodies)]
    rows, columns = [], []

    def take(first_row: int, n_rows: int, first_column: int, *, lower: bool = False) -> None:
        r, c = np.nonzero(np.tri(n_rows, FREEDOMS) if lower else np.ones((n_rows, FREEDOMS)))
        rows.append(first_row + r)
        columns.append(first_column + c)

    for k in range(n_bodies):
        take(FREEDOMS * k, FREEDOMS, FREEDOMS * k, lower=True)
    for a, b in couplings:
        take(FREEDOMS * a, FREEDOMS, FREEDOMS * b)
    first = n_plain = FREEDOMS * n_bodies
    for bodies, equations in links:
        blocks.append(Block(first, equations, bodies))
        for body in bodies:
            take(first, equations, FREEDOMS * body)
        first += equations
    r, c = np.concatenate(rows), np.concatenate(columns)
    return Problem(analyze(blocks, r, c, np.arange(len(r)), n_plain), r, c, n_plain)


def chain(n: int, equations: int = 3) -> Problem:
    return problem(n, [((0,), equations)] + [((k, k + 1), equations) for k in range(n - 1)])


def tree(n: int) -> Problem:
    rng = np.random.default_rng(n)
    return problem(n, [((0,), 5)] + [((int(rng.integers(k)), k), int(rng.integers(1, 6))) for k in range(1, n)])


def ring(n: int) -> Problem:
    return problem(n, [((k, (k + 1) % n), 3) for k in range(n)])


def closed_chain(n: int) -> Problem:
    return problem(n, [((0,), 5), ((n - 1,), 5)] + [((k, k + 1), 3) for k in range(n - 1)])


def ladder(n: int) -> Problem:
    """Two rails of n bodies each, joined by n rungs: n - 1 loops."""
    rails = [((2 * k + side, 2 * k + side + 2), 3) for k in range(n - 1) for side in (0, 1)]
    return problem(2 * n, [*rails, *(((2 * k, 2 * k + 1), 2) for k in range(n))])


def network(n: int) -> Problem:
    """A random tree with extra links that close loops, and springs between bodies that no joint connects."""
    rng = np.random.default_rng(100 + n)
    links = [((int(rng.integers(k)), k), int(rng.integers(1, 4))) for k in range(1, n)]
    pairs = [tuple(int(b) for b in rng.choice(n, 2, replace=False)) for _ in range(n)]
    links += [(pair, int(rng.integers(1, 3))) for pair in pairs[: n // 2]]
    return problem(n, links, sorted({(max(p), min(p)) for p in pairs[n // 2 :]}))


PROBLEMS = {
    "chain": lambda: chain(12),
    "hinged chain": lambda: chain(9, 5),
    "tree": lambda: tree(15),
    "ring": lambda: ring(11),
    "closed chain": lambda: closed_chain(10),
    "ladder": lambda: ladder(7),
    "network": lambda: network(12),
    "one free body": lambda: problem(1, []),
    "fixed body": lambda: problem(1, [((0,), 6)]),
}


def factored(p: Problem, a: np.ndarray, *, symmetric: bool) -> tuple[np.ndarray, float, int]:
    """The inverse times `right_side`, the worst relative pivot and the number of lost ones."""
    s = p.structure
    place = np.empty(s.n, np.int64)
    place[s.order] = np.arange(s.n)
    swapped = place[p.rows] < place[p.columns]
    below = np.where(swapped, a[p.columns, p.rows], a[p.rows, p.columns])
    above = np.where(swapped, a[p.rows, p.columns], a[p.columns, p.rows])
    values, upper = np.zeros(s.n + len(s.rows), a.dtype), np.zeros(len(s.rows), a.dtype)
    values[s.slot] = below
    off = s.slot >= s.n
    upper[s.slot[off] - s.n] = above[off]
    right = right_side(s.n).astype(a.dtype)
    x = right[s.order]
    scale, threshold = np.zeros(s.n), np.full(s.n, PIVOT_LOST)
    if symmetric:
        pivot, lost, _ = factor_symmetric(s.n, values, s.start, s.rows, s.targets, scale, threshold)
        substitute_symmetric(s.n, values, s.start, s.rows, x)
    else:
        pivot, lost = factor_general(s.n, values, upper, s.start, s.rows, s.targets, scale, threshold)
        substitute_general(s.n, values, upper, s.start, s.rows, x)
    solution = np.empty_like(x)
    solution[s.order] = x
    return solution, pivot, lost


def right_side(n: int) -> np.ndarray:
    return np.cos(np.arange(n)) + 0.5


@pytest.mark.parametrize("scalar", [float, complex])
@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "general"])
@pytest.mark.parametrize("topology", PROBLEMS)
def test_solutions_agree_with_dense_ones(topology, symmetric, scalar):
    p = PROBLEMS[topology]()
    rng = np.random.default_rng(5)
    for _ in range(5):
        a = p.matrix(rng, symmetric=symmetric, scalar=scalar)
        found, pivot, lost = factored(p, a, symmetric=symmetric)
        expected = np.linalg.solve(a, right_side(len(a)))
        assert pivot > 1e-8
        assert lost == 0
        np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("topology", PROBLEMS)
def test_the_order_is_a_permutation_and_the_slots_are_distinct(topology):
    p = PROBLEMS[topology]()
    s = p.structure
    assert sorted(s.order) == list(range(s.n))
    assert len(set(s.slot.tolist())) == len(p.rows)
    assert s.start[0] == s.n
    assert s.start[-1] == s.n + len(s.rows)
    assert s.targets.max(initial=0) < s.n + len(s.rows)


# --- cost ------------------------------------------------------------------------------------------------------------


def test_the_cost_per_body_is_constant_in_chains_and_trees():
    costs = [chain(n).structure.multiplications / n for n in (20, 200)]
    assert costs[1] == pytest.approx(costs[0], rel=0.05)
    assert tree(200).structure.multiplications / 200 < 1.2 * costs[0]


def test_the_cost_per_body_is_bounded_in_loops():
    assert ring(200).structure.multiplications < 1.6 * chain(200).structure.multiplications
    small, large = (ladder(n).structure.multiplications / n for n in (10, 100))
    assert large < 1.2 * small


def links(n: int, closed: bool = False) -> mb.System:
    """A chain of spherical links in a crooked circle, closed to a ring on demand."""
    angles = 2 * np.pi * np.arange(n + 1) / n
    points = np.column_stack([np.cos(angles), np.sin(angles), 0.1 * np.cos(7 * angles)])
    system = mb.System("chain")
    previous = system.ground
    for k in range(n):
        middle = 0.4 * points[k] + 0.6 * points[k + 1]
        link = system.add(mb.RigidBody(f"link {k}", mass=1.0, inertia=(1.0, 2.0, 2.5), position=middle))
        system.add(mb.SphericalJoint(f"joint {k}", previous, link, at=points[k]))
        previous = link
    if closed:
        system.add(mb.SphericalJoint("last joint", previous, system.ground, at=points[n]))
    return system


def test_a_link_with_a_ball_joint_costs_about_a_hundred_multiplications():
    costs = [mb.Equations(links(n)).structure.multiplications / n for n in (10, 100)]
    assert costs[1] == pytest.approx(costs[0], rel=0.1)
    assert costs[1] == pytest.approx(100.0, rel=0.15)
    ring_cost = mb.Equations(links(100, closed=True)).structure.multiplications / 100
    assert ring_cost < 1.6 * costs[1]


# --- the system's own factorization ----------------------------------------------------------------------------------


def exact_solution(a: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Gaussian elimination with pivoting in extended precision, rows scaled."""
    scale = np.abs(a).max(axis=1, keepdims=True)
    m = np.hstack([a / scale, right[:, None] / scale]).astype(np.longdouble)
    n = len(a)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(m[k:, k])))
        m[[k, pivot]] = m[[pivot, k]]
        m[k + 1 :] -= np.outer(m[k + 1 :, k] / m[k, k], m[k])
    x = np.zeros(n, np.longdouble)
    for k in reversed(range(n)):
        x[k] = (m[k, n] - m[k, k + 1 : n] @ x[k + 1 :]) / m[k, k]
    return x


def dense(eq: mb.Equations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[M J^T; J 0] and its right side at the described state, which becomes the current one, and M."""
    evaluation = eq.evaluate(0.0, *eq.split(eq.coordinates(eq.described())))
    mass, jacobian = evaluation.mass.toarray(), evaluation.jacobian.toarray()
    zero = np.zeros((len(jacobian), len(jacobian)))
    return np.block([[mass, jacobian.T], [jacobian, zero]]), np.append(evaluation.force, evaluation.gamma), mass


@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.NaturalAbsolute()], ids=repr)
def test_masses_over_eight_decades(formulation):
    rng = np.random.default_rng(8)
    system = mb.System("chain")
    previous, at = system.ground, np.zeros(3)
    for k in range(12):
        mass = 10.0 ** rng.uniform(-4, 4)
        step = rng.normal(size=3)
        link = mb.RigidBody(f"link {k}", mass=mass, inertia=mass * np.array([0.3, 0.5, 0.6]), position=at + 0.5 * step)
        link.angular_velocity = rng.normal(size=3)
        system.add(link)
        system.add(mb.SphericalJoint(f"joint {k}", previous, link, at=at))
        previous, at = link, at + step
    eq = mb.Equations(system, formulation)
    a, right, _ = dense(eq)
    eq.factor()
    found, expected = eq.solve(right), exact_solution(a, right)
    # Each body and each joint by itself: those of light bodies are not small errors of heavy ones.
    parts = [b.v_slice for b in eq.tables.bodies]
    parts += [slice(eq.n_v + c.rows.start, eq.n_v + c.rows.stop) for c in eq.tables.constraints]
    for part in parts:
        assert np.abs(found[part] - expected[part]).max() < 1e-10 * np.abs(expected[part]).max()


def test_the_factors_of_another_state_are_not_used():
    eq = mb.Equations(links(3))
    q, v, _ = eq.split(eq.coordinates(eq.described()))
    rng = np.random.default_rng(4)
    for _ in range(3):
        state = q + 0.1 * rng.normal(size=len(q)), v + rng.normal(size=len(v))
        found = np.concatenate(eq.accelerate(0.0, *state))
        e = eq.evaluate(0.0, *state)
        jacobian = e.jacobian.toarray()
        a = np.block([[e.mass.toarray(), jacobian.T], [jacobian, np.zeros((eq.n_rows, eq.n_rows))]])
        np.testing.assert_allclose(found, np.linalg.solve(a, np.append(e.force, e.gamma)), atol=1e-10)


# --- redundancy ------------------------------------------------------------------------------------------------------


def door(hinges: int) -> mb.System:
    """A turning door whose hinges repeat each other: five equations each, five of them independent."""
    system = mb.System("door")
    inertia = {"mass": 20.0, "inertia": (3.0, 2.5, 1.0, 0.1, 0.0, 0.2)}
    spin = np.array([0.0, 0.0, 2.0])
    leaf = system.add(
        mb.RigidBody(
            "leaf", position=(0.4, 0.1, 0.9), angular_velocity=spin, velocity=np.cross(spin, (0.4, 0.1, 0.9)), **inertia
        )
    )
    for k in range(hinges):
        system.add(mb.RevoluteJoint(f"hinge {k}", system.ground, leaf, at=(0, 0, 0.3 + 0.6 * k), axis=(0, 0, 1)))
    return system


@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.NaturalAbsolute()], ids=repr)
def test_redundant_constraints_leave_the_motion_unique(formulation):
    one, three = (mb.evaluate(door(n), formulation=formulation) for n in (1, 3))
    np.testing.assert_allclose(three.acceleration("leaf"), one.acceleration("leaf"), atol=1e-10)
    np.testing.assert_allclose(three.angular_acceleration("leaf"), one.angular_acceleration("leaf"), atol=1e-10)
    total = sum(three.reaction(f"hinge {k}").force for k in range(3))
    np.testing.assert_allclose(total, one.reaction("hinge 0").force, rtol=1e-9, atol=1e-8)


def test_the_multipliers_of_redundant_constraints_have_minimum_norm():
    """In the weights E of the regularization: of all solutions of J^T lambda = Q - M a, the one of least l^T E l."""
    eq = mb.Equations(door(3))
    a, right, mass = dense(eq)
    eq.factor()
    found = eq.solve(right)
    assert eq.factor_record["left_out"] == 10
    jacobian = a[eq.n_v :, : eq.n_v]
    weight = np.empty(len(a))
    weight[eq.structure.order] = eq.sharing_record.array("weight")
    root = np.sqrt(weight[eq.n_v :])
    # least l^T E l: with y = E^(1/2) l the minimum-norm solution of J^T E^(-1/2) y = Q - M a
    acceleration = np.linalg.lstsq(a, right)[0][: eq.n_v]
    needed = right[: eq.n_v] - mass @ acceleration
    expected = np.linalg.lstsq(jacobian.T / root, needed, rcond=1e-12)[0] / root
    np.testing.assert_allclose(found[: eq.n_v], acceleration, atol=1e-10)
    np.testing.assert_allclose(found[eq.n_v :], expected, atol=1e-8 * np.abs(expected).max())
    flexibility = np.diag(jacobian @ np.linalg.solve(mass, jacobian.T))
    np.testing.assert_allclose(weight[eq.n_v :] / EPSILON, flexibility, rtol=0.5)


def test_equal_joints_share_the_load_equally():
    system = mb.System("doubled")
    weight = system.add(mb.RigidBody("weight", mass=3.0, inertia=(1, 1, 1), position=(0, 0, -1)))
    for k in range(4):
        system.add(mb.SphericalJoint(f"hook {k}", system.ground, weight, at=(0, 0, 0)))
    result = mb.evaluate(system)
    for k in range(4):
        np.testing.assert_allclose(result.reaction(f"hook {k}").force, [[0, 0, 3.0 * 9.81 / 4]], atol=1e-9)


def test_a_redundant_mechanism_runs_and_says_so():
    result, unique = mb.simulate(door(2), 1.0, t_eval=[1.0]), mb.simulate(door(1), 1.0, t_eval=[1.0])
    np.testing.assert_allclose(result.position("leaf"), unique.position("leaf"), atol=1e-6)
    (warning,) = result.info.warnings
    assert "constraints depend on each other" in warning
    assert unique.info.warnings == []
