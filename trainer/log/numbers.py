"""The number formats of the dashboard, the log lines and the tables."""


def number(value: float | None) -> str:
    """A number with four significant digits: 123.4, -0.01235, 1.2e-07; - for None."""
    return "-" if value is None else f"{value:.4g}"


def count(value: float) -> str:
    """A count with three digits: 950, 231K, 1.31M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("K", 1e3)):
        if value >= 0.9995 * size:
            digits = value / size
            return f"{digits:.{2 if digits < 9.995 else 1 if digits < 99.95 else 0}f}{unit}"
    return f"{value:.0f}"


def duration(seconds: float | None) -> str:
    """12s, 3m12s, 1h04m, 2d03h; - for None."""
    if seconds is None:
        return "-"
    whole = round(seconds)
    for unit, size, below, small in (("d", 86400, "h", 3600), ("h", 3600, "m", 60), ("m", 60, "s", 1)):
        if whole >= size:
            return f"{whole // size}{unit}{whole % size // small:02d}{below}"
    return f"{whole}s"


def minutes(seconds: float) -> str:
    """Seconds as minutes with one decimal: 1.5."""
    return f"{seconds / 60:.1f}"
