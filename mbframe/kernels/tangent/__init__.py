"""Stages of the tangent: exact derivatives of the equations of motion."""
