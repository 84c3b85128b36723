"""What goes wrong, as exceptions. Their text is what the command line prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._report import Report


class DslcError(Exception):
    """dslc could not do its work: a file is not there, an option makes no sense, a tool is missing."""


class CompileError(DslcError):
    """The source is wrong. The text is the compiler's messages, with the lines they are about."""


class LaunchError(DslcError):
    """A launch did not end: an access out of bounds, a deadlock, a launch that CUDA refuses."""

    def __init__(self, message: str, report: Report | None = None) -> None:
        super().__init__(message)
        #: The report, as far as there is one.
        self.report = report


class NotCleanError(AssertionError):
    """Raised by ``assert_clean``. The text is the messages of what was found."""


class NotFoundError(KeyError):
    """A report has no access or metric of that name. The text lists those it has."""

    def __str__(self) -> str:
        # A KeyError would show its text in quotes, and a list of names on one line.
        return str(self.args[0])
