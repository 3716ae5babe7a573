"""``python -m covmin``: the command line, where its script is not on the path."""

from covmin.cli.main import main

if __name__ == "__main__":
    main()
