"""Analyses of a system, one in a file; `mbframe` has their public names. Importing this imports none of them."""
