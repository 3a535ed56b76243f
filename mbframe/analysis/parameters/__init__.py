"""Analyses over values of a parameter: sweeps, root loci, critical values, maps of stability."""
