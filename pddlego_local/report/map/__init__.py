"""The world of a problem file as a map: what a model believes, beside what is true.

world     reads a domain and a problem into objects, facts and the goal, and finds the
          player by the form of the actions
layout    gives each object a cell of a grid, which it keeps from file to file
drawing   draws the map as SVG: its boxes, and with `lines` what joins them; `svg` has
          what both share
text      draws it in characters
truth     compares what is believed with what is true and with what was shown
"""
