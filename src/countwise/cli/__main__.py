"""``python -m countwise.cli``."""

from countwise.cli import main

main()
