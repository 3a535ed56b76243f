"""`python -m mbframe`: the command line, as `mbframe`."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
