"""What is plugged in: banks and chips of cartridges, a game's facts, and what ale-py puts into the console at power-on."""
