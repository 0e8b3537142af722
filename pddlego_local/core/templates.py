"""The settings that all Jinja templates of this project share."""

import functools

import jinja2

jinja = functools.partial(
    jinja2.Environment,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
"""Makes an environment for templates. An unknown name is an error, and a line with only
a tag leaves no blank line.
"""
