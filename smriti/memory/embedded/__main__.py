"""`python -I -m smriti.memory.embedded …`: the same as `smriti-mem …`."""

import sys

from smriti.memory.embedded.cli import main

sys.exit(main())
