"""Tableaus of explicit Runge-Kutta methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Tableau:
    """An explicit method y1 = y0 + h sum b_i k_i, k_i = f(t0 + c_i h, y0 + h sum_j a_ij k_j).

    Rows of `a` and `c` beyond the length of `b` are further stages for the dense output

        y(t0 + theta h) = y0 + h sum_i k_i sum_j dense_ij theta^(j + 1).

    `error` has two rows: the weights of the error estimate and those of an auxiliary one (zero if there is none);
    `error_order` is the order of the estimate.
    """

    a: Array
    b: Array
    c: Array
    dense: Array
    error: Array
    error_order: int


def hermite(a: Array, b: Array, c: Array, error: Array | None = None, error_order: int = 0) -> Tableau:
    """A tableau with cubic Hermite dense output: one further stage, the derivative at the end of the step."""
    stages = len(b)
    extended = np.zeros((stages + 1, stages + 1))
    extended[:stages, :stages], extended[stages, :stages] = a, b
    dense = np.zeros((stages + 1, 3))
    dense[:stages] = np.outer(b, [0.0, 3.0, -2.0])
    dense[0] += [1.0, -2.0, 1.0]
    dense[stages] += [0.0, -1.0, 1.0]
    return Tableau(
        extended, b, np.append(c, 1.0), dense, np.zeros((2, stages)) if error is None else error, error_order
    )


def nested(b: Array, last: int, further: Array) -> Array:
    """Weights of a dense output that is nested in theta and 1 - theta, expanded in powers of theta.

    With f0, f1 the derivatives at both ends (stages 0 and `last`) and D = sum_i b_i k_i, as DOPRI5 and DOP853 do it:

        y = y0 + h theta (D + (1 - theta) (f0 - D + theta (2 D - f1 - f0 + (1 - theta) (F_0 + theta (F_1 + ...)))))

    with F_m = sum_i further_mi k_i.
    """
    stages = np.eye(len(b))
    terms = [b, stages[0] - b, 2.0 * b - stages[last] - stages[0], *further]
    theta, factor = Polynomial([0.0, 1.0]), Polynomial([1.0])
    dense = np.zeros((len(b), len(terms)))
    for m, weights in enumerate(terms):
        factor = factor * (theta if m % 2 == 0 else 1.0 - theta)
        coefficients = factor.coef[1:]
        dense[:, : len(coefficients)] += np.outer(weights, coefficients)
    return dense


CLASSICAL = hermite(
    a=np.array([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]),
    b=np.array([1.0, 2.0, 2.0, 1.0]) / 6.0,
    c=np.array([0.0, 0.5, 0.5, 1.0]),
)


def _matrix(rows: Sequence[Mapping[int, float]], columns: int) -> Array:
    matrix = np.zeros((len(rows), columns))
    for r, row in enumerate(rows):
        for c, value in row.items():
            matrix[r, c] = value
    return matrix


# The method of order 6 with seven stages of [Butcher1964]; without dense output, it starts multistep methods.
BUTCHER_6 = Tableau(
    a=_matrix(
        [
            {},
            {0: 1 / 3},
            {1: 2 / 3},
            {0: 1 / 12, 1: 1 / 3, 2: -1 / 12},
            {0: -1 / 16, 1: 9 / 8, 2: -3 / 16, 3: -3 / 8},
            {1: 9 / 8, 2: -3 / 8, 3: -3 / 4, 4: 1 / 2},
            {0: 9 / 44, 1: -9 / 11, 2: 63 / 44, 3: 18 / 11, 5: -16 / 11},
        ],
        7,
    ),
    b=np.array([11.0, 0.0, 81.0, 81.0, -32.0, -32.0, 11.0]) / 120.0,
    c=np.array([0.0, 1 / 3, 2 / 3, 1 / 3, 1 / 2, 1 / 2, 1.0]),
    dense=np.zeros((7, 0)),
    error=np.zeros((2, 7)),
    error_order=0,
)


def _dormand_prince_5() -> Tableau:
    """The method of order 5(4) of Dormand and Prince with dense output of order 4.

    Coefficients of the code DOPRI5: [HairerNorsettWanner1993], table II.5.2 and section II.6. The last stage is the
    derivative at the end of the step.
    """
    a = _matrix(
        [
            {},
            {0: 1 / 5},
            {0: 3 / 40, 1: 9 / 40},
            {0: 44 / 45, 1: -56 / 15, 2: 32 / 9},
            {0: 19372 / 6561, 1: -25360 / 2187, 2: 64448 / 6561, 3: -212 / 729},
            {0: 9017 / 3168, 1: -355 / 33, 2: 46732 / 5247, 3: 49 / 176, 4: -5103 / 18656},
            {0: 35 / 384, 2: 500 / 1113, 3: 125 / 192, 4: -2187 / 6784, 5: 11 / 84},
        ],
        7,
    )
    error = [{0: 71 / 57600, 2: -71 / 16695, 3: 71 / 1920, 4: -17253 / 339200, 5: 22 / 525, 6: -1 / 40}, {}]
    further = [
        {
            0: -12715105075 / 11282082432,
            2: 87487479700 / 32700410799,
            3: -10690763975 / 1880347072,
            4: 701980252875 / 199316789632,
            5: -1453857185 / 822651844,
            6: 69997945 / 29380423,
        }
    ]
    b = a[6].copy()
    c = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
    return Tableau(a, b, c, nested(b, 6, _matrix(further, 7)), _matrix(error, 7), error_order=4)


# The method of order 8(5,3) of Dormand and Prince with dense output of order 7: coefficients of the code DOP853 of
# Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, 2nd edition, Springer 1993. Rows 0-11 are the
# stages of a step, row 12 is the solution itself, rows 13-15 serve the dense output.
_A = [
    {},
    {0: 0.05260015195876773},
    {0: 0.0197250569845379, 1: 0.0591751709536137},
    {0: 0.02958758547680685, 2: 0.08876275643042054},
    {0: 0.2413651341592667, 2: -0.8845494793282861, 3: 0.924834003261792},
    {0: 0.037037037037037035, 3: 0.17082860872947386, 4: 0.12546768756682242},
    {0: 0.037109375, 3: 0.17025221101954405, 4: 0.06021653898045596, 5: -0.017578125},
    {
        0: 0.03709200011850479,
        3: 0.17038392571223998,
        4: 0.10726203044637328,
        5: -0.015319437748624402,
        6: 0.008273789163814023,
    },
    {
        0: 0.6241109587160757,
        3: -3.3608926294469414,
        4: -0.868219346841726,
        5: 27.59209969944671,
        6: 20.154067550477894,
        7: -43.48988418106996,
    },
    {
        0: 0.47766253643826434,
        3: -2.4881146199716677,
        4: -0.590290826836843,
        5: 21.230051448181193,
        6: 15.279233632882423,
        7: -33.28821096898486,
        8: -0.020331201708508627,
    },
    {
        0: -0.9371424300859873,
        3: 5.186372428844064,
        4: 1.0914373489967295,
        5: -8.149787010746927,
        6: -18.52006565999696,
        7: 22.739487099350505,
        8: 2.4936055526796523,
        9: -3.0467644718982196,
    },
    {
        0: 2.273310147516538,
        3: -10.53449546673725,
        4: -2.0008720582248625,
        5: -17.9589318631188,
        6: 27.94888452941996,
        7: -2.8589982771350235,
        8: -8.87285693353063,
        9: 12.360567175794303,
        10: 0.6433927460157636,
    },
    {
        0: 0.054293734116568765,
        5: 4.450312892752409,
        6: 1.8915178993145003,
        7: -5.801203960010585,
        8: 0.3111643669578199,
        9: -0.1521609496625161,
        10: 0.20136540080403034,
        11: 0.04471061572777259,
    },
    {
        0: 0.056167502283047954,
        6: 0.25350021021662483,
        7: -0.2462390374708025,
        8: -0.12419142326381637,
        9: 0.15329179827876568,
        10: 0.00820105229563469,
        11: 0.007567897660545699,
        12: -0.008298,
    },
    {
        0: 0.03183464816350214,
        5: 0.028300909672366776,
        6: 0.053541988307438566,
        7: -0.05492374857139099,
        10: -0.00010834732869724932,
        11: 0.0003825710908356584,
        12: -0.00034046500868740456,
        13: 0.1413124436746325,
    },
    {
        0: -0.42889630158379194,
        5: -4.697621415361164,
        6: 7.683421196062599,
        7: 4.06898981839711,
        8: 0.3567271874552811,
        12: -0.0013990241651590145,
        13: 2.9475147891527724,
        14: -9.15095847217987,
    },
]
_C = [
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    0.3333333333333333,
    0.25,
    0.3076923076923077,
    0.6512820512820513,
    0.6,
    0.8571428571428571,
    1.0,
    1.0,
    0.1,
    0.2,
    0.7777777777777778,
]
_ERROR = [
    {
        0: 0.01312004499419488,
        5: -1.2251564463762044,
        6: -0.4957589496572502,
        7: 1.6643771824549864,
        8: -0.35032884874997366,
        9: 0.3341791187130175,
        10: 0.08192320648511571,
        11: -0.022355307863886294,
    },
    {
        0: -0.18980075407240762,
        5: 4.450312892752409,
        6: 1.8915178993145003,
        7: -5.801203960010585,
        8: -0.4226823213237919,
        9: -0.1521609496625161,
        10: 0.20136540080403034,
        11: 0.02265179219836082,
    },
]
_DENSE = [
    {
        0: -8.428938276109013,
        5: 0.5667149535193777,
        6: -3.0689499459498917,
        7: 2.38466765651207,
        8: 2.117034582445028,
        9: -0.871391583777973,
        10: 2.2404374302607883,
        11: 0.6315787787694688,
        12: -0.08899033645133331,
        13: 18.148505520854727,
        14: -9.194632392478356,
        15: -4.436036387594894,
    },
    {
        0: 10.427508642579134,
        5: 242.28349177525817,
        6: 165.20045171727028,
        7: -374.5467547226902,
        8: -22.113666853125306,
        9: 7.733432668472264,
        10: -30.674084731089398,
        11: -9.332130526430229,
        12: 15.697238121770845,
        13: -31.139403219565178,
        14: -9.35292435884448,
        15: 35.81684148639408,
    },
    {
        0: 19.985053242002433,
        5: -387.0373087493518,
        6: -189.17813819516758,
        7: 527.8081592054236,
        8: -11.57390253995963,
        9: 6.8812326946963,
        10: -1.0006050966910838,
        11: 0.7777137798053443,
        12: -2.778205752353508,
        13: -60.19669523126412,
        14: 84.32040550667716,
        15: 11.99229113618279,
    },
    {
        0: -25.69393346270375,
        5: -154.18974869023643,
        6: -231.5293791760455,
        7: 357.6391179106141,
        8: 93.40532418362432,
        9: -37.45832313645163,
        10: 104.0996495089623,
        11: 29.8402934266605,
        12: -43.53345659001114,
        13: 96.32455395918828,
        14: -39.17726167561544,
        15: -149.72683625798564,
    },
]


def _dormand_prince_8() -> Tableau:
    a = _matrix(_A, 16)
    b = a[12].copy()
    dense = nested(b, 12, _matrix(_DENSE, 16))
    return Tableau(a, b[:12].copy(), np.array(_C), dense, _matrix(_ERROR, 12), error_order=7)


DORMAND_PRINCE = {5: _dormand_prince_5(), 8: _dormand_prince_8()}
