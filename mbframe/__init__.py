"""mbframe: model constrained mechanical systems, simulate them, and inspect their stability.

The public names are loaded when they are first used, so that `import mbframe` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PLACES = {
    "analysis.assemble": ["Assembly", "assemble"],
    "analysis.critical": ["CriticalValue", "critical_values"],
    "analysis.evaluate": ["evaluate"],
    "analysis.freedom": ["Freedom", "degrees_of_freedom"],
    "analysis.linear_equations": ["TurningFrame"],
    "analysis.linearize": ["Linearization", "Mode", "linearize"],
    "analysis.perturbation": ["PerturbedMotion", "perturb_and_simulate"],
    "analysis.root_locus": ["RootLocus", "root_locus"],
    "analysis.sensitivity": ["Sensitivity", "sensitivity"],
    "analysis.stability_map": ["StabilityMap", "stability_map"],
    "analysis.steady": ["SteadyMotion", "steady"],
    "analysis.sweep": ["Failure", "sweep"],
    "bodies": [
        *("Body", "Ground", "PointMass", "RigidBody"),
        *("EulerAngles", "EulerParameters", "Formulation", "NaturalAbsolute", "NewtonEuler"),
    ],
    "constraints": [
        "AngleTerm",
        "BasicConstraint",
        "Coincident",
        "DiskOnPlane",
        "DisplacementTerm",
        "DistanceTerm",
        "EqualTurn",
        "FixedDistance",
        "MeasureRelation",
        "NoSideSlip",
        "NoSlip",
        "NoSlipSphere",
        "Perpendicular",
        "PointInPlane",
    ],
    "equations": ["Equations"],
    "errors": ["AnalysisError", "MbframeError", "ModelError", "SimulationError"],
    "forces": [
        "AngleLimit",
        "Bushing",
        "Contact",
        "DisplacementLimit",
        "ForceElement",
        "Friction",
        "PIDActuator",
        "PointForce",
        "PointPlaneContact",
        "SpherePlaneContact",
        "SphereSphereContact",
        "SpringDamper",
        "Torque",
        "TorsionalSpringDamper",
    ],
    "functions": ["Function"],
    "joints": [
        "ConstantVelocityJoint",
        "CylindricalJoint",
        "DistanceJoint",
        "FixedJoint",
        "GearJoint",
        "Joint",
        "KnifeEdge",
        "PlanarJoint",
        "PointOnLineJoint",
        "RackAndPinionJoint",
        "RevoluteJoint",
        "RollingDisk",
        "RollingSphere",
        "ScrewJoint",
        "SphericalJoint",
        "TranslationalJoint",
        "UniversalJoint",
    ],
    "markers": ["Marker"],
    "measures": ["Angle", "Displacement", "Distance", "Measure"],
    "parameters": ["Element", "parameter"],
    "results": ["Result"],
    "shapes": ["Arrow", "Box", "Cone", "Cylinder", "Mesh", "Shape", "Sphere"],
    "solvers.acceleration": ["Acceleration", "AugmentedFormulation"],
    "solvers.integrators": ["AdamsBashforth", "DormandPrince", "Integrator", "RungeKutta", "RungeKutta4"],
    "solvers.simulate": ["Event", "simulate"],
    "solvers.stabilization": ["Baumgarte", "DirectCorrection", "NoStabilization", "Stabilization"],
    "state": ["State"],
    "system": ["System"],
}
_ORIGIN = {name: module for module, names in _PLACES.items() for name in names}
_MODULES = ["examples"]

__all__ = ["__version__", *sorted(_ORIGIN), *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _ORIGIN:
        value = getattr(importlib.import_module(f"{__name__}.{_ORIGIN[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if TYPE_CHECKING:
    from . import examples as examples
    from .analysis.evaluate import evaluate as evaluate
