import sys

from ferrytimes.cli import main

sys.exit(main())
