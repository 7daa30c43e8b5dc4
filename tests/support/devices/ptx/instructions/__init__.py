"""The instructions by family. Importing this package registers their decoders."""

from ptx.instructions import access, conversions, copies, integers, warp

__all__ = ["access", "conversions", "copies", "integers", "warp"]
