import sys

from stallpay.cli import main

sys.exit(main())
