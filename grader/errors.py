"""Every error that ends a command, each a class with its own exit code.

A student's mistake is never an exception: it is a verdict in a `Result`. What is raised here
says that nothing was graded, whose turn it is, and what to do.
"""


class GradeError(Exception):
    """Ends a command: `message` says what is wrong, `hint` what to do next."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GradeError):
    """A bad command line: an unknown assignment, a path that does not exist."""


class AssignmentError(GradeError):
    """An assignment that cannot be used: unreadable, malformed, contradictory."""


class RefusedError(GradeError):
    """A submission that cannot be graded as it was handed in (verdict `refused`)."""

    exit_code = 1


class NotGradableError(GradeError):
    """No compiler, device or sandbox here can do what was asked (verdict `not_gradable`)."""

    exit_code = 3


class InternalError(GradeError):
    """A fault of the grader itself (verdict `grader_error`)."""

    exit_code = 4
