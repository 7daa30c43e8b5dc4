"""Playing with a trained policy: evaluations, films, and episodes shown in a window or a terminal of envs_c/play/."""
