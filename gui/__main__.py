"""`python -m gui [model.json | run.h5]`: the application from a checkout."""

from __future__ import annotations

import sys

from .app.application import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
