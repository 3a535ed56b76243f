"""Rotors over their speed: whirls seen from the fixed frame, and the Campbell diagram."""
