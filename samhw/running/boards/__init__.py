"""Sessions with designs on boards, through a cable or with an emulated board."""

from samhw.running.boards.emulator import EmulatedLine
from samhw.running.boards.folder import BoardFolder, write_folder
from samhw.running.boards.session import BoardSession

__all__ = ["BoardFolder", "BoardSession", "EmulatedLine", "write_folder"]
