"""The public Python functions of this package, the class `Game`, and the games as
gymnasium environments. The commands use them too.
"""
