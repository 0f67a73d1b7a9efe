"""Sessions with designs on boards, through a cable or with an emulated board."""

from samhw.targets.running.boards.emulator import EmulatedLine
from samhw.targets.running.boards.folder import BoardFolder, write_folder
from samhw.targets.running.boards.session import BoardSession

__all__ = ["BoardFolder", "BoardSession", "EmulatedLine", "write_folder"]
