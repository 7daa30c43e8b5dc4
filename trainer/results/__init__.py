"""Results of several runs: comparisons, statistics over seeds, published scores, and reports."""
