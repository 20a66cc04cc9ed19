"""Agents under test, one module each; `create(argument)` makes the agent, and README.md says how to add one."""
