"""What can move, and how: freedoms, motions of driven mechanisms, the equations of one element."""
