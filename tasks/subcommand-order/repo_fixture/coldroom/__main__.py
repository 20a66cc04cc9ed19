import sys

from coldroom.cli import main

sys.exit(main())
