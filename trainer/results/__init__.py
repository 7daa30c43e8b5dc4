"""Results of several runs: comparisons, statistics over seeds, published scores, and reports.

    several_runs.py runs of one game, run by run or in groups of equal settings
    groups.py       the statistics of groups
    statistics.py   interquartile means, intervals, performance profiles, probability of improvement
    published.py    random and human scores of the cartridges, and human-normalized scores
    output.py       tables as CSV
    report.py       report.html: one page about a run or several
    svg.py          charts of a report
    html.py         the parts of a page: escaped text, tables, style
"""
