"""What can be run on smriti. A newcomer needs `nox -s bench` and `nox -s tests`."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = False

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)
RECEIPTS = Path("receipts")


def group(name: str) -> list[str]:
    """Return the requirements of a dependency group of pyproject.toml."""
    return list(nox.project.dependency_groups(PROJECT, name))


def optional(extra: str) -> list[str]:
    """Return the requirements of an extra of pyproject.toml."""
    return list(PROJECT["project"]["optional-dependencies"][extra])


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Run SMRITI-Bench from the built wheel (3 trials unless --trials is given), verify the receipt, write a report."""
    install_wheel(session, "report")
    arguments = list(session.posargs)
    if not any(argument.startswith(("--trials", "--resume", "--help")) for argument in arguments):
        arguments += ["--trials", "3"]
    out = option(arguments, "--out") or option(arguments, "--resume")
    before = receipts_of("bench")
    stands = True
    try:
        session.run("smriti", "bench", *arguments)
    except nox.command.CommandFailed:
        stands = False
    conclude(session, "bench", [Path(out)] if out else sorted(receipts_of("bench") - before), stands=stands)


@nox.session(default=False)
def longmemeval(session: nox.Session) -> None:
    """Run LongMemEval's retrieval from the built wheel, verify, write a report; without --data it fetches the set."""
    retrieval(session, "longmemeval", data=f"longmemeval-{option(session.posargs, '--set') or 's'}")


@nox.session(default=False)
def locomo(session: nox.Session) -> None:
    """Run LoCoMo's retrieval from the built wheel, by turns and by sessions; verify and report.

    Once with categories 1 to 4 in `all` and once with all five, as published figures are of both, unless one of these
    is given.
    """
    runs: list[list[str]] = [[]]
    if option(session.posargs, "--granularity") is None:
        runs = [["--granularity", "turn"], ["--granularity", "session"]]
    if option(session.posargs, "--categories") is None:
        runs = [[*run, *more] for run in runs for more in ([], ["--categories", "1,2,3,4,5"])]
    cutoffs = [] if option(session.posargs, "--k") else ["--k", "5,10"]
    retrieval(session, "locomo", data="locomo10", runs=[[*run, *cutoffs] for run in runs])


@nox.session(default=False)
def coding_life(session: nox.Session) -> None:
    """Run coding-life's retrieval from the built wheel, verify the receipt, write a report."""
    retrieval(session, "coding-life")


@nox.session(default=False)
def lifecycle(session: nox.Session) -> None:
    """Run the lifecycle checks from the built wheel (on embedded unless --memory is given), then verify the receipt."""
    arguments = list(session.posargs)
    named = option(arguments, "--out") or option(arguments, "--resume")
    systems = [name.partition(":")[0].strip() for text in options(arguments, "--memory") for name in text.split(",")]
    install_wheel(session, *([] if {"vector", "hybrid"}.isdisjoint(systems) else ["vector"]))
    if not any(argument.startswith(("--memory", "--resume", "--help")) for argument in arguments):
        arguments += ["--memory", "embedded"]
    before = receipts_of("lifecycle")
    stands = True
    try:
        session.run("smriti", "lifecycle", *arguments)
    except nox.command.CommandFailed:
        stands = False
    for receipt in [Path(named)] if named else sorted(receipts_of("lifecycle") - before):
        session.run("smriti", "verify", str(receipt))
    if not stands:
        session.error("lifecycle did not end with exit status 0; what it printed says why")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests on this Python; posargs go to pytest."""
    session.install("-e", ".[report,mcp]", *group("tests"))
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session(python=PYTHONS, default=False)
def pythons(session: nox.Session) -> None:
    """Run the tests on every supported Python that is on this machine."""
    session.install("-e", ".[report,mcp]", *group("tests"))
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session(default=False)
def vector(session: nox.Session) -> None:
    """Run the tests of the memory systems that need the packages of smriti[vector]."""
    try:
        session.install("-e", ".[vector]", *group("tests"))
    except nox.command.CommandFailed:
        session.skip("the packages of smriti[vector] could not be installed; what pip said above is why")
    systems = [f"tests/memory/test_{name}.py" for name in ("vector", "hybrid")]
    session.run("pytest", "-n", "auto", *systems, "tests/contract/test_memory_contract.py", *session.posargs)


@nox.session(default=False)
def durability(session: nox.Session) -> None:
    """Kill runs at 50 moments each, and hold what stands and what is resumed against undisturbed ones."""
    session.install("-e", ".", *group("tests"))
    session.run("pytest", "-n", "auto", "tests/test_durability.py", *session.posargs, env={"SMRITI_KILLS": "50"})


@nox.session(default=False)
def browser(session: nox.Session) -> None:
    """Open reports in headless Chromium (Debian's packages chromium and chromium-driver; in CI it installs them)."""
    packages = ("chromium", "chromium-driver")
    if not has_chromium() and "CI" in os.environ and shutil.which("apt-get"):
        apt = ("apt-get", "-q", "-y", "-o", "Acquire::Retries=1")
        for step in (("update",), ("install", "--no-install-recommends", *packages)):
            session.run(*apt, *step, external=True, silent=True, success_codes=range(256))
    if not has_chromium():
        session.skip(f"chromium or chromedriver is not on this machine: apt-get install {' '.join(packages)}")
    session.run("chromium", "--version", external=True)
    session.install("-e", ".[report]", *group("browser"))
    session.run("pytest", "-n", "0", "tests/browser", *session.posargs)


@nox.session(default=False)
def minimums(session: nox.Session) -> None:
    """Run the tests with the lowest version of every direct dependency."""
    requirements = [*PROJECT["project"]["dependencies"], *optional("report"), *optional("mcp")]
    lowest = [requirement.replace(">=", "==") for requirement in requirements]
    session.install(*lowest, *group("tests"))
    session.install("--no-deps", "-e", ".")
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check format, style and the import contract."""
    session.install("-e", ".", *group("lint"))
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("lint-imports")


@nox.session
def types(session: nox.Session) -> None:
    """Check types strictly: package, tests, noxfile and build hook."""
    session.install("-e", ".[report,mcp]", *group("types"))
    session.run("mypy")


@nox.session
def tasks(session: nox.Session) -> None:
    """Ask every admission rule of every task of the corpus."""
    session.install("-e", ".")
    session.run("smriti", "tasks", "check", *session.posargs)


@nox.session(default=False)
def verify(session: nox.Session) -> None:
    """Verify the receipts named in posargs, or all that are in receipts/."""
    session.install("-e", ".")
    named = session.posargs or [str(path.parent) for path in sorted(RECEIPTS.glob("*/*/manifest.json"))]
    session.run("smriti", "verify", *named)


@nox.session(default=False)
def readme(session: nox.Session) -> None:
    """Run what README.md shows, keep the receipts in docs/receipts/, and show what was printed."""
    install_wheel(session)
    for suite, arguments in (("bench", ["--trials", "3"]), ("coding-life", [])):
        receipt = Path("docs/receipts") / suite
        shutil.rmtree(receipt, ignore_errors=True)
        ran = session.run("smriti", suite, *arguments, "--out", str(receipt), silent=True, stderr=subprocess.DEVNULL)
        verified = session.run("smriti", "verify", str(receipt), silent=True)
        printed = f"{ran}$ smriti verify {receipt}\n{verified}"
        digest = hashlib.sha256((receipt / "summary.json").read_bytes()).hexdigest()
        text = Path("README.md").read_text(encoding="utf-8")
        before, start, rest = text.partition(f"<!-- {suite} -->\n")
        _, end, after = rest.partition(f"<!-- /{suite} -->\n")
        shown = f"<!-- receipt: {receipt}@{digest} -->\n\n```text\n{printed.rstrip()}\n```\n"
        Path("README.md").write_text(f"{before}{start}{shown}{end}{after}", encoding="utf-8")


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Build the wheel and the source distribution into dist/."""
    session.install(*group("build"))
    session.run("python", "-m", "build", *session.posargs)


@nox.session(default=False)
def perf(session: nox.Session) -> None:
    """Measure the harness's own cost on this machine; posargs name what of tests/bench, all by default."""
    session.install("-e", ".", *group("tests"))
    session.run("pytest", "-s", *(session.posargs or ["tests/bench"]))


def retrieval(session: nox.Session, suite: str, data: str | None = None, runs: Sequence[Sequence[str]] = ((),)) -> None:
    """Run a suite once for each of `runs`, or once where posargs name a receipt; verify and report what was made."""
    arguments = list(session.posargs)
    named = option(arguments, "--out") or option(arguments, "--resume")
    systems = [name.partition(":")[0].strip() for text in options(arguments, "--memory") for name in text.split(",")]
    needs_model = not {"vector", "hybrid"}.isdisjoint(systems)
    install_wheel(session, "report", *(["vector"] if needs_model else []))
    if "--help" in arguments:
        session.run("smriti", suite, "--help")
        return
    if data is not None and option(arguments, "--data") is None:
        session.run("smriti", "data", "fetch", data)
    before = receipts_of(suite)
    stands = True
    for run in [[]] if named else runs:
        try:
            session.run("smriti", suite, *arguments, *run)
        except nox.command.CommandFailed:
            stands = False
    conclude(session, suite, [Path(named)] if named else sorted(receipts_of(suite) - before), stands=stands)


def conclude(session: nox.Session, suite: str, receipts: Sequence[Path], *, stands: bool) -> None:
    """Verify receipts and write their reports; one of a run that does not stand is there all the same."""
    for receipt in receipts:
        session.run("smriti", "verify", str(receipt))
        session.run("smriti", "report", str(receipt))
    if not stands:
        session.error(f"{suite} did not end with exit status 0; what it printed says why")


def has_chromium() -> bool:
    """Tell whether both that the session `browser` needs are on this machine."""
    return shutil.which("chromium") is not None and shutil.which("chromedriver") is not None


def install_wheel(session: nox.Session, *extras: str) -> None:
    """Build this checkout's wheel and install it, so that what runs is what a user gets."""
    wheels = Path(session.create_tmp()) / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    session.install(*group("build"))
    session.run("python", "-m", "build", "--wheel", "--outdir", str(wheels), silent=True)
    (wheel,) = wheels.glob("*.whl")
    session.install(f"smriti[{','.join(extras)}] @ {wheel.resolve().as_uri()}")


def option(arguments: list[str], name: str) -> str | None:
    """Return the first value that `--name VALUE` or `--name=VALUE` has among `arguments`."""
    return next(options(arguments, name), None)


def options(arguments: list[str], name: str) -> Iterator[str]:
    """Yield every value of an option that may be repeated."""
    for argument, after in itertools.pairwise([*arguments, ""]):
        if argument == name:
            yield after
        elif argument.startswith(f"{name}="):
            yield argument.partition("=")[2]


def receipts_of(suite: str) -> set[Path]:
    """Return the receipts of a suite that stand in receipts/ now."""
    return {path.parent for path in (RECEIPTS / suite).glob("*/manifest.json")}
