"""Why a decision cannot be lowered, as a value: a search goes on to the next one."""

from dataclasses import dataclass

from samhw.errors import ScheduleError, StreamError

__all__ = ["Refusal"]


@dataclass(frozen=True)
class Refusal:
    """A reason why some statements cannot be one region in some way.

    Attributes:
        message: the sentence that a user reads: the cause, and behind a semicolon the ways out.
        result: the result that streams cannot give in its format, but could in compressed levels.
    """

    message: str
    result: str | None = None

    @classmethod
    def of(cls, error: ScheduleError) -> "Refusal":
        """What an error says."""
        return cls(str(error), error.result if isinstance(error, StreamError) else None)

    @property
    def cause(self) -> str:
        """The cause, without the ways out."""
        return self.message.partition(";")[0]

    def error(self) -> ScheduleError:
        """The same for a user, who is left with it."""
        return ScheduleError(self.message)
