"""insertcoin beside its peers, on the same work in the same run: `make peers`, or `python -m benchmarks.peers`."""
