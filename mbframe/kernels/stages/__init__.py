"""Stages of the equations of motion: loops over elements, accelerations, corrections."""
