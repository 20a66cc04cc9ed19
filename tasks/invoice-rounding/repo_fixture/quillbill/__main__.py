import sys

from quillbill.cli import main

sys.exit(main())
