"""A method with a prompt of its own: the least that makes one."""
