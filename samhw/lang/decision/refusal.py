"""Why a decision cannot be lowered, as a value: a search goes on to the next one."""

from dataclasses import dataclass

from samhw.errors import ScheduleError, StreamError

__all__ = ["Refusal"]


@dataclass(frozen=True)
class Refusal:
    """A reason why some statements cannot be one region in some way.

    Attributes:
        cause: a sentence without its full stop.
        ways: what a user may do, each an imperative; any of them will do.
        place: the tensors that the region computes; nothing for the whole program.
        result: the result that streams cannot give in its format, but could in compressed levels.
    """

    cause: str
    ways: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    result: str | None = None

    @classmethod
    def of(cls, error: ScheduleError, place: tuple[str, ...] = ()) -> "Refusal":
        """What an error says of a region, or of the whole program."""
        return cls(error.cause, error.ways, place, error.result if isinstance(error, StreamError) else None)

    def error(self) -> ScheduleError:
        """The same for a user, who is left with it."""
        return ScheduleError(self.cause, *self.ways)
