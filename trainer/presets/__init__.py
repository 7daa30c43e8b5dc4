"""Presets: one TOML file for each game, with only the settings that differ from the defaults in trainer/config/sections.py."""
