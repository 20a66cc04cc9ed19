"""Every error that is raised on purpose."""


class SmritiError(Exception):
    """What a user can mend; its text says where, what was found, what was expected and what to do."""


class UsageError(SmritiError):
    """A command, name, option or file that cannot be used as it is; the command line exits 2."""


class MemorySystemError(SmritiError):
    """A memory system did not do what its protocol promises; a suite's step records it as a fault of the case."""


class AgentError(SmritiError):
    """An agent could not be started or its result not be read; a suite's step records it as a fault of the case."""


class ReceiptError(SmritiError):
    """A receipt cannot be written, read or resumed."""
