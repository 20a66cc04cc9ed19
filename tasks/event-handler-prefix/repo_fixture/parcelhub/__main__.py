import sys

from parcelhub.cli import main

sys.exit(main())
