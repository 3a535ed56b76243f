"""Force elements."""

from .actuators import PIDActuator
from .base import ForceElement
from .contact import Contact, PointPlaneContact, SpherePlaneContact, SphereSphereContact
from .friction import Friction
from .limits import AngleLimit, DisplacementLimit, DistanceLimit
from .loads import PointForce, Torque
from .springs import Bushing, SpringDamper, TorsionalSpringDamper
from .tire import Tire

__all__ = [
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
]
