"""The self-test of this machine's GPU: `insertcoin selftest`. Its programs, its measurements and its page."""
