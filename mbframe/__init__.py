"""mbframe: model constrained mechanical systems, simulate them, and inspect their stability.

The public names are loaded when they are first used, so that `import mbframe` is quick.
"""

from __future__ import annotations

import importlib
from typing import Any

from .display import show_with

_PLACES = {
    "analysis.states.assemble": ["Assembly", "assemble"],
    "analysis.laboratory.compare": ["compare"],
    "analysis.laboratory.comparison": ["Comparison"],
    "analysis.branches.branch": ["Bifurcation", "Branch"],
    "analysis.branches.continuation": ["continuation"],
    "analysis.motions.floquet": ["FloquetMode", "PeriodicMotion"],
    "analysis.motions.periodic": ["periodic"],
    "analysis.motions.transition": ["Flow", "transition"],
    "analysis.parameters.batch": ["Batch", "batch"],
    "analysis.parameters.critical": ["CriticalValue", "critical_values"],
    "analysis.mobility.element_equations": ["ForceEquations", "JointEquations", "equations_of"],
    "analysis.statics.equilibrium": ["Equilibrium", "equilibrium"],
    "analysis.states.describing": ["describe"],
    "analysis.states.evaluate": ["evaluate"],
    "analysis.mobility.counted_freedom": ["Freedom"],
    "analysis.mobility.freedom": ["degrees_of_freedom"],
    "analysis.mobility.kinematics": ["inverse_dynamics", "kinematics"],
    "analysis.linear.linear_equations": ["TurningFrame"],
    "analysis.linear.linearize": ["Linearization", "Mode", "linearize"],
    "analysis.linear.perturbation": ["PerturbedMotion", "perturb_and_simulate"],
    "analysis.states.pull": ["Puller"],
    "analysis.parameters.root_locus": ["RootLocus", "root_locus"],
    "analysis.rotors.campbell": ["Campbell", "CriticalSpeed", "campbell"],
    "analysis.parameters.sensitivity": ["Sensitivity", "sensitivity"],
    "analysis.parameters.stability_map": ["StabilityMap", "stability_map"],
    "analysis.statics.steady": ["SteadyMotion", "steady"],
    "analysis.parameters.sweep": ["Failure", "sweep"],
    "analysis.parameters.vary": ["vary"],
    "applications": ["edit", "show"],
    "bodies": [
        *("Body", "FlexibleBody", "Ground", "PlanarBody", "PlanarFlexibleBody", "PointMass", "RigidBody"),
        *("PlanarAngle", "PlanarEulerParameters", "PlanarNatural"),
        *("EulerAngles", "EulerParameters", "Formulation", "NaturalAbsolute", "NewtonEuler", "Relative"),
    ],
    "constraints": [
        "AlongAxis",
        "AngleTerm",
        "BasicConstraint",
        "Coincident",
        "CoincidentInPlane",
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
        "PointOnAxis",
        "TurnWithAxis",
    ],
    "equations": ["Equations"],
    "controllers": ["Controller", "LinearController", "StateFeedback"],
    "errors": ["AnalysisError", "MbframeError", "ModelError", "SimulationError"],
    "files.model": ["load", "load_settings", "save"],
    "files.python_writer": ["to_python"],
    "files.result_files": ["load_result"],
    "files.meshes": ["MeshNotice"],
    "files.robots": ["UrdfNotice", "import_urdf"],
    "forces": [
        "AngleLimit",
        "Bushing",
        "Contact",
        "DisplacementLimit",
        "DistanceLimit",
        "ForceElement",
        "Friction",
        "PIDActuator",
        "PointForce",
        "PointPlaneContact",
        "SpherePlaneContact",
        "SphereSphereContact",
        "SpringDamper",
        "Tire",
        "Torque",
        "TorsionalSpringDamper",
    ],
    "functions": ["Function"],
    "joints": [
        "ConstantVelocityJoint",
        "CylindricalJoint",
        "DistanceJoint",
        "Driver",
        "FixedJoint",
        "GearJoint",
        "Joint",
        "KeyedSleeveJoint",
        "KnifeEdge",
        "LinearConstraint",
        "PlanarJoint",
        "PointDriver",
        "PointOnAxisJoint",
        "PointOnLineJoint",
        "Prescribed",
        "RackAndPinionJoint",
        "RevoluteJoint",
        "RollingDisk",
        "RollingSphere",
        "ScrewJoint",
        "SleeveJoint",
        "SphericalJoint",
        "TranslationalJoint",
        "UniversalJoint",
    ],
    "limits": ["import_limits"],
    "markers": ["Marker"],
    "measures": ["Angle", "Displacement", "Distance", "Measure"],
    "parameters": ["Element", "parameter"],
    "registry": ["register"],
    "results": ["Result"],
    "signals": ["Input"],
    "shapes": ["Arrow", "Box", "Cone", "Cylinder", "Mesh", "Shape", "Sphere"],
    "solvers.acceleration": [
        "Acceleration",
        "AugmentedFormulation",
        "AugmentedLagrangian",
        "Penalty",
        "ProjectionMatrix",
        "UdwadiaKalaba",
    ],
    "solvers.integrators": [
        "AdamsBashforth",
        "BDF",
        "DormandPrince",
        "GeneralizedAlpha",
        "Integrator",
        "RadauIIA",
        "RungeKutta",
        "RungeKutta4",
    ],
    "solvers.events": ["Event"],
    "solvers.simulate": ["simulate"],
    "solvers.simulation": ["Simulation"],
    "solvers.stabilization": [
        "Baumgarte",
        "CoordinatePartitioning",
        "DirectCorrection",
        "MassOrthogonalProjection",
        "NoStabilization",
        "Stabilization",
    ],
    "state": ["State"],
    "system": ["System"],
}
_ORIGIN = {name: module for module, names in _PLACES.items() for name in names}
_MODULES = ["examples", "flexible", "formulations", "render"]

__all__ = ["__version__", *sorted(_ORIGIN), *_MODULES]

show_with(f"{__name__}.render.notebook")


def __getattr__(name: str) -> Any:
    value: Any
    if name == "__version__":
        value = _version()
    elif name in _ORIGIN:
        value = getattr(importlib.import_module(f"{__name__}.{_ORIGIN[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _version() -> str:
    """The version that was installed, made from the repository's tags; also in a checkout, of its installation."""
    metadata = importlib.import_module("importlib.metadata")
    try:
        return str(metadata.version(__name__))
    except metadata.PackageNotFoundError:
        return "unknown"


def __dir__() -> list[str]:
    return sorted(__all__)
