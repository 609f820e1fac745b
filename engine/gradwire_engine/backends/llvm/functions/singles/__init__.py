"""Functions of one float in few instructions, which is what bounds them on a GPU.

Special values come out of the arithmetic, or take a branch.
"""
