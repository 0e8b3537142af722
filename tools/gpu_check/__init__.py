"""`make gpu-check`: does everything run on this machine's GPU, and what does it
cost?
"""
