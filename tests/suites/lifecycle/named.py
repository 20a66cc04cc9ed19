"""Fakes as the command line can name them."""

from __future__ import annotations

from tests.suites.lifecycle.breaks import LiesAboutForgetting
from tests.suites.lifecycle.fakes import Able, System

able = System(Able)
lying = System(LiesAboutForgetting)
plain = System(Able, "plain", frozenset())
