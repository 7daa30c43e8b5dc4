"""Presets: one TOML file for each game, with only its changes to the defaults in trainer/config/sections.py."""
