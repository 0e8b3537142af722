"""From records to tables and pages. Reads files only; every rate has its n and an interval, and no
episode is left out silently.

    cells                      the records below a folder
    numbers, statistics/       counts, rates and intervals, tests
    arms, contrasts            which arms are compared, and on which games
    comparisons, verdicts      what was found, in numbers and in words
    papers                     our numbers as the papers report theirs
    text, paper_tables         Markdown and the terminal
    table_file                 CSV; `exports` has a line for each call or episode
    figures/, pages/           SVG and PNG; HTML
    progress                   how far a run has come
"""
