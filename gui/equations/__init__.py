"""The equation view: what a joint or force contributes to the equations of motion, with the numbers of this instant."""
