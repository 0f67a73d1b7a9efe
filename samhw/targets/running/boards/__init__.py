"""Sessions with designs on boards, through a cable or with an emulated board."""

from samhw.targets.running.boards.emulator import EmulatedLine
from samhw.targets.running.boards.folder import BoardFolder, BoardSession, write_folder

__all__ = ["BoardFolder", "BoardSession", "EmulatedLine", "write_folder"]
