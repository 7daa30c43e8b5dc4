"""One TOML file a game, named after it: only the settings that differ from the defaults of trainer/config/config.py."""
