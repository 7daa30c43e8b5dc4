"""How OpenMP's threads wait for each other. Import this before anything that loads OpenMP (torch, envs_c).

By default GNU's runtime lets a waiting thread spin for milliseconds. On a machine whose cores are busy with something else
that something is then kept from running, and so is the thread that is waited for: two trainings side by side on two cores
went at 2% of one's speed each. A short spin costs nothing when the cores are idle, and leaves each of the two 46%. A
GOMP_SPINCOUNT or OMP_WAIT_POLICY of the user's own is kept.
"""

import os

SPINS = "1000"  # some microseconds

if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
