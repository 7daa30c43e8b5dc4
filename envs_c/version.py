"""The version of insertcoin, in the one place where it stands: pyproject.toml reads it here."""

__version__ = "0.1.0"
