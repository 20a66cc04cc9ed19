import sys

from linkcheck.cli import main

sys.exit(main())
