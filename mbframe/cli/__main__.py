"""``python -m mbframe.cli``, where the command `mbframe` is not on the path."""

import sys

from . import main

sys.exit(main())
