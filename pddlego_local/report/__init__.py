"""From records to tables: `cells` reads, `numbers` counts, `text` and `files` render last.

Reads files only. Every rate has its n and an interval, and no episode is left out silently.
"""
