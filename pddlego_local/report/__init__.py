"""Turns records into tables and pages. It reads files only. Every rate has its n and an
interval, and no episode is left out silently.

    cells                      reads the records below a folder
    numbers, statistics/       counts, rates and intervals, tests
    arms, declared             which arms are compared, and which comparisons were
                               declared
    comparisons, verdicts      the results of comparisons, in numbers and in words
    papers                     our numbers in the form of the papers' tables
    text                       Markdown and tables for the terminal
    exports                    CSV, also with a line for each call or episode
    figures/, pages/           SVG and PNG; HTML
"""
