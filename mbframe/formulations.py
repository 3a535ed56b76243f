"""What an author of a coordinate formulation needs beside `mb.Formulation`, which says what methods there are.

The files in `bodies/formulations` are examples. Rows of rigid bodies have `RIGID_FIELDS`, and more if a formulation
says so in `fields`; `variation` returns a `Variation`, whose blocks `beside` puts together; `named` makes `q_names`.
"""

from .bodies.formulations.base import RIGID_FIELDS, Variation, beside, named

__all__ = ["RIGID_FIELDS", "Variation", "beside", "named"]
