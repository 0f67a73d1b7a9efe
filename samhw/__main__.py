"""`python -m samhw`, for where the command `samhw` is not on the path."""

from samhw.app.cli import main

if __name__ == "__main__":
    main(prog_name="samhw")
