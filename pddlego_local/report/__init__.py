"""From records to tables: `cells` reads, `numbers` counts, `text` and `files` render last.

`arms`, `couples` and `pairs` say what is compared, `comparisons` compares it, `verdicts` words it;
`papers` holds our numbers beside the papers'. Reads files only. Every rate has its n and an
interval, and no episode is left out silently.
"""
