"""The random numbers of envs_c/rng.pxd in plain Python, for the plain boards that games are compared with."""

BITS = 2**64 - 1


def mix(z: int) -> int:
    """SplitMix64's finalizer."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & BITS
    z = (z ^ z >> 27) * 0x94D049BB133111EB & BITS
    return z ^ z >> 31


class Pcg32:
    """The generator of environment `index` under `seed`."""

    def __init__(self, seed: int, index: int = 0):
        key = mix(seed + 0x9E3779B97F4A7C15 & BITS)
        self.stream = (mix(key ^ index) << 1 | 1) & BITS
        self.state = mix(key + self.stream & BITS)
        self.below(1)

    def below(self, bound: int) -> int:
        """An integer from 0 to bound - 1."""
        old = self.state
        self.state = (old * 6364136223846793005 + self.stream) & BITS
        bits, turn = (old >> 18 ^ old) >> 27 & 0xFFFFFFFF, old >> 59
        return ((bits >> turn | bits << (32 - turn)) & 0xFFFFFFFF) * bound >> 32
