"""The public names of mbframe, written by scripts/assets stubs from what the classes declare."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, overload

from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from . import examples as examples
from . import flexible as flexible
from . import formulations as formulations
from . import render as render
from .analysis.branches.branch import Bifurcation as Bifurcation
from .analysis.branches.branch import Branch as Branch
from .analysis.branches.continuation import continuation as continuation
from .analysis.laboratory.compare import compare as compare
from .analysis.laboratory.comparison import Comparison as Comparison
from .analysis.linear.linear_equations import TurningFrame as TurningFrame
from .analysis.linear.linearize import Linearization as Linearization
from .analysis.linear.linearize import Mode as Mode
from .analysis.linear.linearize import linearize as linearize
from .analysis.linear.perturbation import PerturbedMotion as PerturbedMotion
from .analysis.linear.perturbation import perturb_and_simulate as perturb_and_simulate
from .analysis.mobility.counted_freedom import Freedom as Freedom
from .analysis.mobility.element_equations import ForceEquations as ForceEquations
from .analysis.mobility.element_equations import JointEquations as JointEquations
from .analysis.mobility.element_equations import equations_of as equations_of
from .analysis.mobility.freedom import degrees_of_freedom as degrees_of_freedom
from .analysis.mobility.kinematics import inverse_dynamics as inverse_dynamics
from .analysis.mobility.kinematics import kinematics as kinematics
from .analysis.motions.floquet import FloquetMode as FloquetMode
from .analysis.motions.floquet import PeriodicMotion as PeriodicMotion
from .analysis.motions.periodic import periodic as periodic
from .analysis.motions.transition import Flow as Flow
from .analysis.motions.transition import transition as transition
from .analysis.parameters.batch import Batch as Batch
from .analysis.parameters.batch import batch as batch
from .analysis.parameters.critical import CriticalValue as CriticalValue
from .analysis.parameters.critical import critical_values as critical_values
from .analysis.parameters.root_locus import RootLocus as RootLocus
from .analysis.parameters.root_locus import root_locus as root_locus
from .analysis.parameters.sensitivity import Sensitivity as Sensitivity
from .analysis.parameters.sensitivity import sensitivity as sensitivity
from .analysis.parameters.stability_map import StabilityMap as StabilityMap
from .analysis.parameters.stability_map import stability_map as stability_map
from .analysis.parameters.sweep import Failure as Failure
from .analysis.parameters.sweep import sweep as sweep
from .analysis.parameters.vary import vary as vary
from .analysis.rotors.campbell import Campbell as Campbell
from .analysis.rotors.campbell import CriticalSpeed as CriticalSpeed
from .analysis.rotors.campbell import campbell as campbell
from .analysis.states.assemble import Assembly as Assembly
from .analysis.states.assemble import assemble as assemble
from .analysis.states.describing import describe as describe
from .analysis.states.evaluate import evaluate as evaluate
from .analysis.states.pull import Puller as Puller
from .analysis.statics.equilibrium import Equilibrium as Equilibrium
from .analysis.statics.equilibrium import equilibrium as equilibrium
from .analysis.statics.steady import SteadyMotion as SteadyMotion
from .analysis.statics.steady import steady as steady
from .applications import edit as edit
from .applications import show as show
from .bodies import Body as Body
from .bodies import EulerAngles as EulerAngles
from .bodies import EulerParameters as EulerParameters
from .bodies import FlexibleBody as _FlexibleBody
from .bodies import Formulation as Formulation
from .bodies import Ground as Ground
from .bodies import NaturalAbsolute as NaturalAbsolute
from .bodies import NewtonEuler as NewtonEuler
from .bodies import PlanarAngle as PlanarAngle
from .bodies import PlanarBody as _PlanarBody
from .bodies import PlanarEulerParameters as PlanarEulerParameters
from .bodies import PlanarFlexibleBody as _PlanarFlexibleBody
from .bodies import PlanarNatural as PlanarNatural
from .bodies import PointMass as _PointMass
from .bodies import Relative as Relative
from .bodies import RigidBody as _RigidBody
from .constraints import AlongAxis as _AlongAxis
from .constraints import AngleTerm as _AngleTerm
from .constraints import BasicConstraint as BasicConstraint
from .constraints import Coincident as _Coincident
from .constraints import CoincidentInPlane as _CoincidentInPlane
from .constraints import DiskOnPlane as _DiskOnPlane
from .constraints import DisplacementTerm as _DisplacementTerm
from .constraints import DistanceTerm as _DistanceTerm
from .constraints import EqualTurn as _EqualTurn
from .constraints import FixedDistance as _FixedDistance
from .constraints import MeasureRelation as MeasureRelation
from .constraints import NoSideSlip as _NoSideSlip
from .constraints import NoSlip as _NoSlip
from .constraints import NoSlipSphere as _NoSlipSphere
from .constraints import Perpendicular as _Perpendicular
from .constraints import PointInPlane as _PointInPlane
from .constraints import PointOnAxis as _PointOnAxis
from .constraints import TurnWithAxis as _TurnWithAxis
from .controllers import Controller as Controller
from .controllers import LinearController as _LinearController
from .controllers import StateFeedback as _StateFeedback
from .equations import Equations as Equations
from .errors import AnalysisError as AnalysisError
from .errors import MbframeError as MbframeError
from .errors import ModelError as ModelError
from .errors import SimulationError as SimulationError
from .files.meshes import MeshNotice as MeshNotice
from .files.model import load as load
from .files.model import load_settings as load_settings
from .files.model import save as save
from .files.python_writer import to_python as to_python
from .files.result_files import load_result as load_result
from .files.robots import UrdfNotice as UrdfNotice
from .files.robots import import_urdf as import_urdf
from .flexible.modes import Modes as _Modes
from .forces import AngleLimit as _AngleLimit
from .forces import Bushing as _Bushing
from .forces import Contact as Contact
from .forces import DisplacementLimit as _DisplacementLimit
from .forces import DistanceLimit as _DistanceLimit
from .forces import ForceElement as ForceElement
from .forces import Friction as _Friction
from .forces import PIDActuator as _PIDActuator
from .forces import PointForce as _PointForce
from .forces import PointPlaneContact as _PointPlaneContact
from .forces import SpherePlaneContact as _SpherePlaneContact
from .forces import SphereSphereContact as _SphereSphereContact
from .forces import SpringDamper as _SpringDamper
from .forces import Tire as _Tire
from .forces import Torque as _Torque
from .forces import TorsionalSpringDamper as _TorsionalSpringDamper
from .functions import Function as Function
from .joints import ConstantVelocityJoint as _ConstantVelocityJoint
from .joints import CylindricalJoint as _CylindricalJoint
from .joints import DistanceJoint as _DistanceJoint
from .joints import Driver as _Driver
from .joints import FixedJoint as _FixedJoint
from .joints import GearJoint as _GearJoint
from .joints import Joint as Joint
from .joints import KeyedSleeveJoint as _KeyedSleeveJoint
from .joints import KnifeEdge as _KnifeEdge
from .joints import LinearConstraint as _LinearConstraint
from .joints import PlanarJoint as _PlanarJoint
from .joints import PointDriver as _PointDriver
from .joints import PointOnAxisJoint as _PointOnAxisJoint
from .joints import PointOnLineJoint as _PointOnLineJoint
from .joints import Prescribed as _Prescribed
from .joints import RackAndPinionJoint as _RackAndPinionJoint
from .joints import RevoluteJoint as _RevoluteJoint
from .joints import RollingDisk as _RollingDisk
from .joints import RollingSphere as _RollingSphere
from .joints import ScrewJoint as _ScrewJoint
from .joints import SleeveJoint as _SleeveJoint
from .joints import SphericalJoint as _SphericalJoint
from .joints import TranslationalJoint as _TranslationalJoint
from .joints import UniversalJoint as _UniversalJoint
from .limits import import_limits as import_limits
from .markers import Axis as _Axis
from .markers import Marker as Marker
from .measures import Angle as _Angle
from .measures import Displacement as _Displacement
from .measures import Distance as _Distance
from .measures import Measure as Measure
from .parameters import Element as Element
from .parameters import parameter as parameter
from .registry import register as register
from .results import Result as Result
from .shapes import Arrow as Arrow
from .shapes import Box as Box
from .shapes import Cone as Cone
from .shapes import Cylinder as Cylinder
from .shapes import Mesh as Mesh
from .shapes import Shape as Shape
from .shapes import Sphere as Sphere
from .signals import Input as Input
from .solvers.acceleration import Acceleration as Acceleration
from .solvers.acceleration import AugmentedFormulation as _AugmentedFormulation
from .solvers.acceleration import AugmentedLagrangian as _AugmentedLagrangian
from .solvers.acceleration import Penalty as _Penalty
from .solvers.acceleration import ProjectionMatrix as _ProjectionMatrix
from .solvers.acceleration import UdwadiaKalaba as _UdwadiaKalaba
from .solvers.events import Event as Event
from .solvers.integrators import BDF as _BDF
from .solvers.integrators import AdamsBashforth as _AdamsBashforth
from .solvers.integrators import DormandPrince as _DormandPrince
from .solvers.integrators import GeneralizedAlpha as _GeneralizedAlpha
from .solvers.integrators import Integrator as Integrator
from .solvers.integrators import RadauIIA as _RadauIIA
from .solvers.integrators import RungeKutta as RungeKutta
from .solvers.integrators import RungeKutta4 as _RungeKutta4
from .solvers.simulate import simulate as simulate
from .solvers.simulation import Simulation as Simulation
from .solvers.stabilization import Baumgarte as _Baumgarte
from .solvers.stabilization import CoordinatePartitioning as _CoordinatePartitioning
from .solvers.stabilization import DirectCorrection as _DirectCorrection
from .solvers.stabilization import MassOrthogonalProjection as _MassOrthogonalProjection
from .solvers.stabilization import NoStabilization as _NoStabilization
from .solvers.stabilization import Stabilization as Stabilization
from .state import State as State
from .system import System as System

__version__: str
_Vector = Sequence[float] | NDArray[Any]
_Matrix = Sequence[Sequence[float]] | NDArray[Any]
_Law = float | str | Function | Callable[..., Any]

class AdamsBashforth(_AdamsBashforth):
    def __init__(self, *, order: int = 4) -> None: ...

class AlongAxis(_AlongAxis):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class Angle(_Angle):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        axis: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
    ) -> None: ...

class AngleLimit(_AngleLimit):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        lower: float,
        upper: float,
        stiffness: float,
        frame: Rotation | _Vector | _Matrix = ...,
        damping: float = 0.0,
    ) -> None: ...

class AngleTerm(_AngleTerm):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        coefficient: float = 1.0,
        start: float = 0.0,
        motion: _Law | None = None,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class AugmentedFormulation(_AugmentedFormulation):
    def __init__(
        self,
    ) -> None: ...

class AugmentedLagrangian(_AugmentedLagrangian):
    def __init__(
        self,
        *,
        alpha: float | _Vector = 10000000.0,
        omega: float | _Vector = 10.0,
        mu: float | _Vector = 1.0,
        tolerance: float = 1e-12,
    ) -> None: ...

class BDF(_BDF):
    def __init__(self, *, rtol: float = 1e-06, atol: float | None = None, max_step: float | None = None) -> None: ...

class Baumgarte(_Baumgarte):
    def __init__(self, *, alpha: float = 5.0, beta: float = 5.0) -> None: ...

class Bushing(_Bushing):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        stiffness: _Vector | _Matrix = ...,
        damping: _Vector | _Matrix = ...,
    ) -> None: ...

class Coincident(_Coincident):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class CoincidentInPlane(_CoincidentInPlane):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class ConstantVelocityJoint(_ConstantVelocityJoint):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector | None = None,
        local: bool = False,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector | None = None,
        local: Literal[True],
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
    ) -> None: ...

class CoordinatePartitioning(_CoordinatePartitioning):
    def __init__(
        self,
        *,
        tolerance: float = 1e-09,
        redundancy: Literal["start", "every step"] = "start",
        integrate: Literal["all", "independent"] = "all",
    ) -> None: ...

class CylindricalJoint(_CylindricalJoint):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
        local: bool = False,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
        second_i: _Vector | None = None,
        second_j: _Vector | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        local: Literal[True],
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
        second_i: _Vector | None = None,
        second_j: _Vector | None = None,
    ) -> None: ...

class DirectCorrection(_DirectCorrection):
    def __init__(self, *, tolerance: float = 1e-12, mass_weighted: bool = True) -> None: ...

class DiskOnPlane(_DiskOnPlane):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        radius: float = 1.0,
        crown_radius: float = 0.0,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class Displacement(_Displacement):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        axis: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
    ) -> None: ...

class DisplacementLimit(_DisplacementLimit):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        lower: float,
        upper: float,
        stiffness: float,
        frame: Rotation | _Vector | _Matrix = ...,
        damping: float = 0.0,
    ) -> None: ...

class DisplacementTerm(_DisplacementTerm):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        coefficient: float = 1.0,
        start: float = 0.0,
        motion: _Law | None = None,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class Distance(_Distance):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis: _Vector = ...,
    ) -> None: ...

class DistanceJoint(_DistanceJoint):
    def __init__(
        self, name: str, i: Body, j: Body, *, at_i: _Vector, at_j: _Vector, frame: Rotation | _Vector | _Matrix = ...
    ) -> None: ...

class DistanceLimit(_DistanceLimit):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        stiffness: float,
        frame: Rotation | _Vector | _Matrix = ...,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        lower: float = 0.0,
        upper: float | None = None,
        damping: float = 0.0,
    ) -> None: ...

class DistanceTerm(_DistanceTerm):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        coefficient: float = 1.0,
        start: float = 0.0,
        motion: _Law | None = None,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class DormandPrince(_DormandPrince):
    def __init__(
        self, *, order: int = 8, rtol: float = 1e-06, atol: float | None = None, max_step: float | None = None
    ) -> None: ...

class Driver(_Driver):
    def __init__(
        self,
        name: str,
        joint: Joint,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        angle: _Law | None = None,
        displacement: _Law | None = None,
    ) -> None: ...

class EqualTurn(_EqualTurn):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class FixedDistance(_FixedDistance):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        distance: float = 1.0,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class FixedJoint(_FixedJoint):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        local: bool = False,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
        second_i: _Vector | None = None,
        second_j: _Vector | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        local: Literal[True],
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
        second_i: _Vector | None = None,
        second_j: _Vector | None = None,
    ) -> None: ...

class FlexibleBody(_FlexibleBody):
    def __init__(
        self,
        name: str,
        modes: _Modes,
        *,
        position: _Vector = ...,
        rotation: Rotation | _Vector | _Matrix = ...,
        velocity: _Vector = ...,
        angular_velocity: _Vector = ...,
        shapes: Sequence[Shape] = ...,
        frame: Literal["node", "mean"] | None = None,
        modal_coordinates: _Vector | None = None,
        modal_velocities: _Vector | None = None,
        damping_ratios: float | _Vector = 0.0,
        geometric_stiffening: bool = False,
    ) -> None: ...

class Friction(_Friction):
    def __init__(
        self,
        name: str,
        joint: Joint,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        coefficient: float = 0.1,
        velocity_scale: float = 0.001,
        radius: float = 0.0,
    ) -> None: ...

class GearJoint(_GearJoint):
    def __init__(
        self, name: str, first: Joint, second: Joint, *, ratio: float, frame: Rotation | _Vector | _Matrix = ...
    ) -> None: ...

class GeneralizedAlpha(_GeneralizedAlpha):
    def __init__(self, *, rho_infinity: float = 0.8, velocity_level: bool = False) -> None: ...

class KeyedSleeveJoint(_KeyedSleeveJoint):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
    ) -> None: ...

class KnifeEdge(_KnifeEdge):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        normal: _Vector = ...,
    ) -> None: ...

class LinearConstraint(_LinearConstraint):
    def __init__(
        self,
        name: str,
        measure: Measure,
        second: Measure | None = None,
        third: Measure | None = None,
        fourth: Measure | None = None,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        coefficients: _Vector = ...,
        value: _Law = 0.0,
    ) -> None: ...

class LinearController(_LinearController):
    def __init__(
        self,
        name: str,
        *,
        system: Any,
        measures: Sequence[Any] = ...,
        sample_time: float | None = None,
        limit: float | _Vector | None = None,
        rate_limit: float | _Vector | None = None,
        outputs: Mapping[str, str] = ...,
        start: _Vector | None = None,
    ) -> None: ...

class MassOrthogonalProjection(_MassOrthogonalProjection):
    def __init__(self, *, penalty: float = 10000000.0, tolerance: float = 1e-12) -> None: ...

class NoSideSlip(_NoSideSlip):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class NoSlip(_NoSlip):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        radius: float = 1.0,
        crown_radius: float = 0.0,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class NoSlipSphere(_NoSlipSphere):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        radius: float = 1.0,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class NoStabilization(_NoStabilization):
    def __init__(
        self,
    ) -> None: ...

class PIDActuator(_PIDActuator):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
        quantity: Literal["angle", "displacement"] = "angle",
        setpoint: _Law = 0.0,
        proportional: float = 0.0,
        integral: float = 0.0,
        derivative: float = 0.0,
        limit: float | None = None,
        rate_limit: float | None = None,
        lag: float = 0.01,
    ) -> None: ...

class Penalty(_Penalty):
    def __init__(
        self, *, alpha: float | _Vector = 10000000.0, omega: float | _Vector = 10.0, mu: float | _Vector = 1.0
    ) -> None: ...

class Perpendicular(_Perpendicular):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        axis_i: int = 2,
        axis_j: int = 0,
        constant: float = 0.0,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class PlanarBody(_PlanarBody):
    def __init__(
        self,
        name: str,
        *,
        formulation: Formulation | None = None,
        mass: float,
        inertia: float | _Vector,
        position: _Vector = ...,
        velocity: _Vector = ...,
        angular_velocity: float = 0.0,
        shapes: Sequence[Shape] = ...,
        angle: float = 0.0,
        center_of_mass: _Vector = ...,
    ) -> None: ...

class PlanarFlexibleBody(_PlanarFlexibleBody):
    def __init__(
        self,
        name: str,
        modes: _Modes,
        *,
        position: _Vector = ...,
        velocity: _Vector = ...,
        angular_velocity: float = 0.0,
        shapes: Sequence[Shape] = ...,
        frame: Literal["node", "mean"] | None = None,
        modal_coordinates: _Vector | None = None,
        modal_velocities: _Vector | None = None,
        damping_ratios: float | _Vector = 0.0,
        geometric_stiffening: bool = False,
        angle: float = 0.0,
    ) -> None: ...

class PlanarJoint(_PlanarJoint):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
        local: bool = False,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        local: Literal[True],
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
    ) -> None: ...

class PointDriver(_PointDriver):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        x: _Law | None = None,
        y: _Law | None = None,
        z: _Law | None = None,
    ) -> None: ...

class PointForce(_PointForce):
    def __init__(
        self,
        name: str,
        body: Body,
        *,
        force: Sequence[_Law],
        frame: Rotation | _Vector | _Matrix = ...,
        at: _Vector | None = None,
        axes: Literal["global", "body"] = "global",
    ) -> None: ...

class PointInPlane(_PointInPlane):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        axis_i: int = 2,
        constant: float = 0.0,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class PointMass(_PointMass):
    def __init__(
        self,
        name: str,
        *,
        mass: float,
        position: _Vector = ...,
        rotation: Rotation | _Vector | _Matrix = ...,
        velocity: _Vector = ...,
        angular_velocity: _Vector = ...,
        shapes: Sequence[Shape] = ...,
    ) -> None: ...

class PointOnAxis(_PointOnAxis):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class PointOnAxisJoint(_PointOnAxisJoint):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
    ) -> None: ...

class PointOnLineJoint(_PointOnLineJoint):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
        local: bool = False,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        local: Literal[True],
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
    ) -> None: ...

class PointPlaneContact(_PointPlaneContact):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        stiffness: float,
        frame: Rotation | _Vector | _Matrix = ...,
        exponent: float = 1.5,
        restitution: float = 1.0,
        impact_speed: float | None = None,
        rest_speed: float = 0.01,
        sensing_distance: float = 0.0001,
        friction: float = 0.0,
        slip_speed: float = 0.001,
        at: _Vector | None = None,
        plane_point: _Vector = ...,
        normal: _Vector = ...,
    ) -> None: ...

class Prescribed(_Prescribed):
    def __init__(
        self, name: str, measure: Measure, *, value: _Law, frame: Rotation | _Vector | _Matrix = ...
    ) -> None: ...

class ProjectionMatrix(_ProjectionMatrix):
    def __init__(
        self,
    ) -> None: ...

class RackAndPinionJoint(_RackAndPinionJoint):
    def __init__(
        self, name: str, first: Joint, second: Joint, *, radius: float, frame: Rotation | _Vector | _Matrix = ...
    ) -> None: ...

class RadauIIA(_RadauIIA):
    def __init__(self, *, rtol: float = 1e-06, atol: float | None = None, max_step: float | None = None) -> None: ...

class RevoluteJoint(_RevoluteJoint):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
        local: bool = False,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
        second_i: _Vector | None = None,
        second_j: _Vector | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        local: Literal[True],
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
        second_i: _Vector | None = None,
        second_j: _Vector | None = None,
    ) -> None: ...

class RigidBody(_RigidBody):
    def __init__(
        self,
        name: str,
        *,
        formulation: Formulation | None = None,
        mass: float,
        inertia: _Vector | _Matrix,
        position: _Vector = ...,
        rotation: Rotation | _Vector | _Matrix = ...,
        velocity: _Vector = ...,
        angular_velocity: _Vector = ...,
        shapes: Sequence[Shape] = ...,
        center_of_mass: _Vector = ...,
    ) -> None: ...

class RollingDisk(_RollingDisk):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        radius: float,
        frame: Rotation | _Vector | _Matrix = ...,
        normal: _Vector = ...,
        plane_point: _Vector = ...,
        crown_radius: float = 0.0,
    ) -> None: ...

class RollingSphere(_RollingSphere):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        radius: float,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        normal: _Vector = ...,
        plane_point: _Vector = ...,
    ) -> None: ...

class RungeKutta4(_RungeKutta4):
    def __init__(
        self,
    ) -> None: ...

class ScrewJoint(_ScrewJoint):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        pitch: float,
        frame: Rotation | _Vector | _Matrix = ...,
        local: bool = False,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        pitch: float,
        frame: Rotation | _Vector | _Matrix = ...,
        local: Literal[True],
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
    ) -> None: ...

class SleeveJoint(_SleeveJoint):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
    ) -> None: ...

class SpherePlaneContact(_SpherePlaneContact):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        stiffness: float,
        radius: float,
        frame: Rotation | _Vector | _Matrix = ...,
        exponent: float = 1.5,
        restitution: float = 1.0,
        impact_speed: float | None = None,
        rest_speed: float = 0.01,
        sensing_distance: float = 0.0001,
        friction: float = 0.0,
        slip_speed: float = 0.001,
        at: _Vector | None = None,
        plane_point: _Vector = ...,
        normal: _Vector = ...,
    ) -> None: ...

class SphereSphereContact(_SphereSphereContact):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        stiffness: float,
        radius_i: float,
        radius_j: float,
        frame: Rotation | _Vector | _Matrix = ...,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        exponent: float = 1.5,
        restitution: float = 1.0,
        impact_speed: float | None = None,
        rest_speed: float = 0.01,
        sensing_distance: float = 0.0001,
        friction: float = 0.0,
        slip_speed: float = 0.001,
    ) -> None: ...

class SphericalJoint(_SphericalJoint):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        local: bool = False,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
        local: Literal[True],
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
    ) -> None: ...

class SpringDamper(_SpringDamper):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        stiffness: float = 0.0,
        damping: float = 0.0,
        free_length: float | None = None,
        force: _Law | None = None,
        damping_force: _Law | None = None,
    ) -> None: ...

class StateFeedback(_StateFeedback):
    def __init__(
        self,
        name: str,
        *,
        gain: _Vector,
        measures: Sequence[Any] = ...,
        sample_time: float | None = None,
        limit: float | _Vector | None = None,
        rate_limit: float | _Vector | None = None,
        outputs: Mapping[str, str] = ...,
    ) -> None: ...

class Tire(_Tire):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        radius: float,
        stiffness: float,
        frame: Rotation | _Vector | _Matrix = ...,
        at: _Vector | None = None,
        damping: float = 0.0,
        profile: _Law = 0.0,
        speed: float = 0.0,
        plane_point: _Vector = ...,
        normal: _Vector = ...,
        direction: _Vector = ...,
    ) -> None: ...

class Torque(_Torque):
    def __init__(
        self,
        name: str,
        body: Body,
        *,
        torque: _Law | Sequence[_Law],
        frame: Rotation | _Vector | _Matrix = ...,
        at: _Vector | None = None,
        axes: Literal["global", "body"] = "global",
    ) -> None: ...

class TorsionalSpringDamper(_TorsionalSpringDamper):
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
        stiffness: float = 0.0,
        damping: float = 0.0,
        free_angle: float = 0.0,
        torque: _Law | None = None,
        damping_torque: _Law | None = None,
    ) -> None: ...

class TranslationalJoint(_TranslationalJoint):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
        local: bool = False,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
        second_i: _Vector | None = None,
        second_j: _Vector | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        frame: Rotation | _Vector | _Matrix = ...,
        local: Literal[True],
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
        axis_i: _Vector | None = None,
        axis_j: _Vector | None = None,
        second_i: _Vector | None = None,
        second_j: _Vector | None = None,
    ) -> None: ...

class TurnWithAxis(_TurnWithAxis):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        frame: Rotation | _Vector | _Matrix = ...,
        axis: _Vector = ...,
    ) -> None: ...
    @overload
    def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ...

class UdwadiaKalaba(_UdwadiaKalaba):
    def __init__(
        self,
    ) -> None: ...

class UniversalJoint(_UniversalJoint):
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        at: _Vector,
        axis_i: _Vector = ...,
        axis_j: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
        local: bool = False,
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        axis_i: _Vector = ...,
        axis_j: _Vector = ...,
        frame: Rotation | _Vector | _Matrix = ...,
        local: Literal[True],
        at_i: _Vector | None = None,
        at_j: _Vector | None = None,
    ) -> None: ...

__all__ = [
    "BDF",
    "Acceleration",
    "AdamsBashforth",
    "AlongAxis",
    "AnalysisError",
    "Angle",
    "AngleLimit",
    "AngleTerm",
    "Arrow",
    "Assembly",
    "AugmentedFormulation",
    "AugmentedLagrangian",
    "BasicConstraint",
    "Batch",
    "Baumgarte",
    "Bifurcation",
    "Body",
    "Box",
    "Branch",
    "Bushing",
    "Campbell",
    "Coincident",
    "CoincidentInPlane",
    "Comparison",
    "Cone",
    "ConstantVelocityJoint",
    "Contact",
    "Controller",
    "CoordinatePartitioning",
    "CriticalSpeed",
    "CriticalValue",
    "Cylinder",
    "CylindricalJoint",
    "DirectCorrection",
    "DiskOnPlane",
    "Displacement",
    "DisplacementLimit",
    "DisplacementTerm",
    "Distance",
    "DistanceJoint",
    "DistanceLimit",
    "DistanceTerm",
    "DormandPrince",
    "Driver",
    "Element",
    "EqualTurn",
    "Equations",
    "Equilibrium",
    "EulerAngles",
    "EulerParameters",
    "Event",
    "Failure",
    "FixedDistance",
    "FixedJoint",
    "FlexibleBody",
    "FloquetMode",
    "Flow",
    "ForceElement",
    "ForceEquations",
    "Formulation",
    "Freedom",
    "Friction",
    "Function",
    "GearJoint",
    "GeneralizedAlpha",
    "Ground",
    "Input",
    "Integrator",
    "Joint",
    "JointEquations",
    "KeyedSleeveJoint",
    "KnifeEdge",
    "LinearConstraint",
    "LinearController",
    "Linearization",
    "Marker",
    "MassOrthogonalProjection",
    "MbframeError",
    "Measure",
    "MeasureRelation",
    "Mesh",
    "MeshNotice",
    "Mode",
    "ModelError",
    "NaturalAbsolute",
    "NewtonEuler",
    "NoSideSlip",
    "NoSlip",
    "NoSlipSphere",
    "NoStabilization",
    "PIDActuator",
    "Penalty",
    "PeriodicMotion",
    "Perpendicular",
    "PerturbedMotion",
    "PlanarAngle",
    "PlanarBody",
    "PlanarEulerParameters",
    "PlanarFlexibleBody",
    "PlanarJoint",
    "PlanarNatural",
    "PointDriver",
    "PointForce",
    "PointInPlane",
    "PointMass",
    "PointOnAxis",
    "PointOnAxisJoint",
    "PointOnLineJoint",
    "PointPlaneContact",
    "Prescribed",
    "ProjectionMatrix",
    "Puller",
    "RackAndPinionJoint",
    "RadauIIA",
    "Relative",
    "Result",
    "RevoluteJoint",
    "RigidBody",
    "RollingDisk",
    "RollingSphere",
    "RootLocus",
    "RungeKutta",
    "RungeKutta4",
    "ScrewJoint",
    "Sensitivity",
    "Shape",
    "Simulation",
    "SimulationError",
    "SleeveJoint",
    "Sphere",
    "SpherePlaneContact",
    "SphereSphereContact",
    "SphericalJoint",
    "SpringDamper",
    "StabilityMap",
    "Stabilization",
    "State",
    "StateFeedback",
    "SteadyMotion",
    "System",
    "Tire",
    "Torque",
    "TorsionalSpringDamper",
    "TranslationalJoint",
    "TurnWithAxis",
    "TurningFrame",
    "UdwadiaKalaba",
    "UniversalJoint",
    "UrdfNotice",
    "__version__",
    "assemble",
    "batch",
    "campbell",
    "compare",
    "continuation",
    "critical_values",
    "degrees_of_freedom",
    "describe",
    "edit",
    "equations_of",
    "equilibrium",
    "evaluate",
    "examples",
    "flexible",
    "formulations",
    "import_limits",
    "import_urdf",
    "inverse_dynamics",
    "kinematics",
    "linearize",
    "load",
    "load_result",
    "load_settings",
    "parameter",
    "periodic",
    "perturb_and_simulate",
    "register",
    "render",
    "root_locus",
    "save",
    "sensitivity",
    "show",
    "simulate",
    "stability_map",
    "steady",
    "sweep",
    "to_python",
    "transition",
    "vary",
]
