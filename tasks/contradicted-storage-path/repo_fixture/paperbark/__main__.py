from paperbark.cli import run

run()
