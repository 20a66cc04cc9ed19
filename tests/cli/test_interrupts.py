"""Which signals end a command, and how often one has to be sent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from smriti.cli import interrupts

HEARS = "from smriti.cli.interrupts import listen; import os, signal; listen()\n"


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in interrupts._SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_the_first_signal_interrupts_and_two_more_do_not(
    number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    for each in interrupts._SIGNALS:
        signal.signal(each, signal.SIG_DFL)
    interrupts.listen()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), number)
    assert capfd.readouterr().err == 2 * "smriti: interrupted, and still cleaning up\n"


def test_the_fourth_ends_the_process_with_the_status_of_an_interrupt() -> None:
    script = (
        f"{HEARS}for _ in range(4):\n"
        "    try: os.kill(os.getpid(), signal.SIGTERM)\n"
        "    except KeyboardInterrupt: print('interrupted', flush=True)\n"
        "print('not reached')\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (3, "interrupted\n")


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """As nohup has it."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    interrupts.listen()
    os.kill(os.getpid(), signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
