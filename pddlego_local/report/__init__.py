"""From records to tables and pages. Reads files only; every rate has its n and an interval, and no
episode is left out silently.

    cells                      the records below a folder
    numbers, statistics/       counts, rates and intervals, tests
    arms                       which arms are compared
    comparisons, verdicts      what was found, in numbers and in words
    papers                     our numbers as the papers report theirs
    text                       Markdown and the terminal
    exports                    CSV, also with a line for each call or episode
    figures/, pages/           SVG and PNG; HTML
    progress                   how far a run has come
"""
