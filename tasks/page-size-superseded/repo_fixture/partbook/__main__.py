from partbook.cli import run

run()
