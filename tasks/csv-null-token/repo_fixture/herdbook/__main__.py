import sys

from herdbook.cli import main

sys.exit(main())
