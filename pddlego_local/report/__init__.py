"""Turns records into tables and pages. It reads files only. Every rate has its n and an
interval, and no episode is left out silently.

    cells                      reads the records below a folder
    measures, numbers          the measures of the papers, and all numbers of a report
    statistics/                rates and intervals, tests, power
    arms, contrasts            what an arm is, and which arms are compared
    declared                   which comparisons were declared
    pairs, comparisons         the results of two arms, game by game and compared
    verdicts                   comparisons in words
    bars, first_screen         what a reader sees first, as Markdown and in a terminal
    papers                     our numbers in the form of the papers' tables
    text                       Markdown and tables for the terminal
    exports                    CSV, also with a line for each call or episode
    figures/, pages/           SVG and PNG; HTML
"""
