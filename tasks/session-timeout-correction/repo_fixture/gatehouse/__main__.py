from gatehouse.cli import run

run()
