"""`python -m tritium`: see `tritium.tools.cli`."""

from .tools.cli import main

if __name__ == "__main__":
    main()
