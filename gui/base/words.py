"""Names in words: what classes and parameters are called on the screen."""

from __future__ import annotations

import inspect
import re
from typing import Any, Final

_LABELS: Final = {
    "body_i": "First body",
    "body_j": "Second body",
    "at": "Point",
    "at_i": "Point on first body",
    "at_j": "Point on second body",
    "axis_i": "Axis on first body",
    "axis_j": "Axis on second body",
    "center_of_mass": "Centre of mass",
    "frame": "Marker axes",
    "t_end": "End time",
    "dt": "Time step",
    "rtol": "Relative tolerance",
    "atol": "Absolute tolerance",
    "max_step": "Longest step",
    "rho_infinity": "Damping at high frequency ρ∞",
    "alpha": "Alpha α",
    "beta": "Beta β",
    "omega": "Omega ω",
    "mu": "Mu μ",
    "shapes": "Look",
}
_CLASSES: Final = {
    "DormandPrince": "Dormand-Prince",
    "RungeKutta": "Runge-Kutta",
    "RungeKutta4": "Runge-Kutta 4",
    "AdamsBashforth": "Adams-Bashforth",
    "GeneralizedAlpha": "Generalized alpha",
    "RadauIIA": "Radau IIA",
    "PIDActuator": "PID actuator",
    "UdwadiaKalaba": "Udwadia-Kalaba",
    "NewtonEuler": "Newton-Euler",
    "AugmentedLagrangian": "Augmented Lagrangian",
    "PlanarEulerParameters": "Planar Euler parameters",
    "PlanarGround": "Ground",
    "SpringDamper": "Spring-damper",
    "TorsionalSpringDamper": "Torsional spring-damper",
    "PointPlaneContact": "Point-plane contact",
    "SpherePlaneContact": "Sphere-plane contact",
    "SphereSphereContact": "Sphere-sphere contact",
}


def spaced(name: str) -> str:
    """A class name in words: "RevoluteJoint" is "Revolute joint"."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+", name)
    return " ".join(
        word if k == 0 or (word.isupper() and len(word) > 1) else word.lower() for k, word in enumerate(words)
    )


def class_label(cls: type) -> str:
    """Name of a class for users."""
    return _CLASSES.get(cls.__name__) or spaced(cls.__name__)


def parameter_label(name: str) -> str:
    """Name of a parameter for users."""
    if name in _LABELS:
        return _LABELS[name]
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def without_count(text: str) -> str:
    """A text without the number of equations in brackets: in the plane it is another than in space."""
    return re.sub(r"\s*\([^()]*\bequations?\b[^()]*\)", "", text)


def first_sentence(thing: Any) -> str:
    """The first sentence of a docstring, as plain text, without a number of equations: in the plane it is another."""
    text = inspect.getdoc(thing) or ""
    paragraph = re.sub(
        r"\s*\[[A-Z]\w*\d{4}[a-z]?[^\]]*\](, (eqs?\.|section) [\w.-]*\w)?", "", " ".join(text.split("\n\n")[0].split())
    )
    paragraph = without_count(paragraph)
    match = re.match(r"(.+?[.:])(?:\s|$)", paragraph)
    return (match[1] if match else paragraph).replace("`", "").rstrip(":.") + ("." if paragraph else "")


_RAISED: Final = str.maketrans("0123456789-n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ")


def unit_label(unit: str) -> str:
    """A unit as it is printed: "kg m^2" is "kg m²"."""
    return re.sub(r"\^(-?\d+|n)", lambda match: match[1].translate(_RAISED), unit)


def instant(t: float) -> str:
    """An instant of a motion, in seconds: three digits, and thousands without an exponent."""
    return f"{t:.3g}" if abs(t) < 999.5 else f"{t:,.0f}"
