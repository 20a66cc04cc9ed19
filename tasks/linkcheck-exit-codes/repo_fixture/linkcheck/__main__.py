from linkcheck.cli import main

main()
