from tidegate.cli import run

run()
