"""The window of `mbframe.show`: a motion to look at, from Python."""
