"""Pages that open from disk: one for all the runs of a report, one for each episode.

rendering   templates to text; nothing in a page can run or load but what the page brings along
site        which files there are, and what the first page shows
links       the addresses of the episodes' pages, and what each leads to
episode     what an episode's page shows; `answers` is a part of it
"""
