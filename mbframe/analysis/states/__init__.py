"""Single states: assembled, evaluated, pulled by the mouse."""
