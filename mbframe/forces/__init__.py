"""Force elements."""

from .base import ForceElement
from .library import SpringDamper

__all__ = ["ForceElement", "SpringDamper"]
