"""Controllers: what sees a model and gives named outputs, which expressions of forces name."""

from .base import Controller
from .library import LinearController, StateFeedback

__all__ = ["Controller", "LinearController", "StateFeedback"]
