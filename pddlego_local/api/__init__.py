"""What programs use of this package: its functions, its games, and the games as
gymnasium environments. The commands use it too.
"""
