"""The tree of errors. Each says what happened and what to do about it.

AgentError
├── ConfigError               something the caller set is wrong
│   ├── UnknownModelError     no such vendor
│   ├── MissingKeyError       the vendor needs a key
│   └── InstallError          a package is missing or broken
├── FileError                 a path or a size the virtual file system refuses
├── ToolError                 written for the model: code, message, hint
├── ProviderError             a vendor or the network failed; says whether to try again
├── SavedRunError             a saved run that cannot be read
├── CassetteError             a recording that cannot be played or written
└── RunFailedError            raised only by `run.raise_for_failure()`
"""

from typing import Literal

ToolErrorCode = Literal["UNKNOWN_TOOL", "INVALID_JSON", "SCHEMA", "DENIED", "TIMEOUT", "FAILED", "STOPPED"]
"""The first six advise a model that goes on. `STOPPED` marks a call that the end of its run closed: every call
needs a result, but neither the tool nor the person has refused anything, and no view may show it as a failure.
"""


class AgentError(Exception):
    """The root: `except AgentError` catches everything this package raises on purpose."""


class ConfigError(AgentError):
    """A setting, an argument or a name that cannot be used."""


class UnknownModelError(ConfigError):
    """No vendor of that name."""


class MissingKeyError(ConfigError):
    """The vendor needs an API key and none was found."""


class InstallError(ConfigError):
    """A package that the vendor needs is missing or broken."""


class FileError(AgentError):
    """A path, a size or a file that the virtual file system refuses."""


class ToolError(AgentError):
    """A tool's failure, told to the model so that it can do better; never the end of a run."""

    def __init__(self, message: str, *, code: ToolErrorCode = "FAILED", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code: ToolErrorCode = code
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class ProviderError(AgentError):
    """A vendor or the network failed. `retryable` says whether the same request may succeed later."""

    def __init__(self, message: str, *, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


class SavedRunError(AgentError):
    """A saved run that cannot be read."""


class CassetteError(AgentError):
    """A recording that cannot be read, does not belong to this request, or cannot be written."""


class RunFailedError(AgentError):
    """The run ended `failed`; its error is the message."""
