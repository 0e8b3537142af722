"""HTML pages that open from disk: one for all the runs of a report, and one for each
episode.

rendering   renders templates; a page can run or load nothing but what it contains
            itself
site        writes the files, and collects what the first page shows
links       the paths of the episodes' pages, and the links between them
episode     collects what an episode's page shows
maps        draws what was believed, true and told
failure     finds what was refused, and why, at any moment of a game
"""
