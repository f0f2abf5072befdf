"""The exceptions of this package. Their messages state the problem and the remedy."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

ToolErrorCode = Literal[
    "UNKNOWN_TOOL", "INVALID_JSON", "SCHEMA", "DENIED", "TIMEOUT", "FAILED", "STOPPED", "NOT_A_CALL"
]  # fmt: skip
"""The model sees the first six and can react. `STOPPED` is the result of a call that was still open when the run
ended, `NOT_A_CALL` the end of one that turned out to be part of a text. Neither has failed or been rejected.
"""


class AgentError(Exception):
    """Base class of all exceptions that this package raises on purpose. Secrets in their messages are masked."""

    def __init__(self, message: str = "") -> None:
        from agent_nb._base.secrets import safe_text  # `%load_ext` does not need it

        super().__init__(safe_text(message))


def error_text(error: BaseException) -> str:
    """`ValueError: the message`, masked."""
    try:
        message = str(error)
    except BaseException:  # the error's own `__str__` failed
        message = ""
    return str(AgentError(f"{type(error).__name__}: {message}".removesuffix(": ")))


class ConfigError(AgentError):
    """A setting, argument or name is wrong."""


def check_type(name: str, value: object, kind: Any, expected: str) -> None:
    if not isinstance(value, kind):
        raise wrong_type(name, value, expected)


def wrong_type(name: str, value: object, expected: str) -> ConfigError:
    """Return an error that contains the type but not the value, which may be a key."""
    actual = "None" if value is None else f"a {type(value).__name__}"
    return ConfigError(f"`{name}` is {expected}, not {actual}.")


class UnknownModelError(ConfigError):
    """There is no vendor with that name."""


class MissingKeyError(ConfigError):
    """The vendor needs an API key, and none was found."""

    def __init__(self, message: str, *, vendor: str = "") -> None:
        super().__init__(message)
        self.vendor = vendor


class InstallError(ConfigError):
    """A package that the vendor needs is missing or broken."""


class FileError(AgentError):
    """The virtual file system refuses a path, a size or a file."""


class ToolError(AgentError):
    """A tool failed. The model sees the message and the hint, and the run continues."""

    def __init__(
        self,
        message: str,
        *,
        code: ToolErrorCode = "FAILED",
        hint: str = "",
        outputs: Sequence[Mapping[str, Any]] = (),
        summary: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.headline = next(iter(message.splitlines()), "")
        """The first line, without `line`."""
        self.summary = summary or message
        self.code: ToolErrorCode = code
        self.hint = hint
        self.outputs = tuple(outputs)
        """MIME bundles for the card."""
        self.line: int | None = None
        """The line of the model's code that raised it."""

    def with_hint(self, text: str) -> "ToolError":
        error = type(self).__new__(
            type(self), *self.args
        )  # with dask.distributed, `copy` shares the attributes
        vars(error).update(vars(self), hint=" ".join(filter(None, (self.hint, text))))
        return error

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class BranchError(AgentError):
    """A branch cannot be made. The run ends, because its code must not run in the session."""


class ProviderError(AgentError):
    """A vendor or the network failed. `retryable` is True if the same request may succeed later."""

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        too_long: bool = False,
        window: int | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = str(self)
        """What failed, for the row of a retry; may be shorter than the message."""
        self.retryable = retryable
        self.retry_after = retry_after
        self.too_long = too_long
        """Whether the request exceeds the model's context window."""
        self.window = window
        """The size of the context window in tokens, if the vendor reports it."""


class RequestRefusedError(ProviderError):
    """A vendor rejected the request. It is retried if `without` names a part to omit."""

    def __init__(self, message: str, *, refusal: str = "", without: str = "") -> None:
        super().__init__(message, retryable=bool(without), retry_after=0.0 if without else None)
        self.refusal = refusal
        self.without = without


class ModelNotFoundError(RequestRefusedError):
    """The vendor has no model with that name, or not for this key."""

    def __init__(self, message: str, *, refusal: str = "", other_models: Sequence[str] = ()) -> None:
        super().__init__(message, refusal=refusal)
        self.other_models = tuple(other_models)
        """The vendor's models with the nearest names, and its default."""


class RateLimitError(ProviderError):
    """The vendor accepts no more requests for now."""


class SavedRunError(AgentError):
    """A saved run cannot be read."""


class CassetteError(AgentError):
    """A cassette cannot be read or written, or does not match the request."""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(f"{message} {remedy}".strip())
        self.message = message


class RunFailedError(AgentError):
    """The run failed; the message is `run.error`. Raised only by `run.raise_for_failure()`."""
