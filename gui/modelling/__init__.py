"""Building models by hand: adding elements in the view, pulling, assembling, checks, and the script of it all."""
