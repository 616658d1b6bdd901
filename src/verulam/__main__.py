"""The command line, as `python -m verulam`."""

from verulam.cli import main

if __name__ == "__main__":
    main()
