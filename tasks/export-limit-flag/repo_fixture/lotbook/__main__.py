import sys

from lotbook.cli import main

sys.exit(main())
