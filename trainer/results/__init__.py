"""Results of several runs: statistics over seeds, published scores to compare with, and protocols of evaluations.

    statistics.py   interquartile means, intervals, performance profiles, probability of improvement
    published.py    random and human scores of the cartridges, and human-normalized scores
    protocol.py     the protocol of an evaluation, for evaluation.json and in words

None of them loads torch or matplotlib.
"""
