import sys

from fieldpress.cli import main

sys.exit(main())
