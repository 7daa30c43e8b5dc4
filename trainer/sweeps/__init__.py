"""Search spaces of sweeps, in TOML: default.toml is the one that is searched unless another is named."""
