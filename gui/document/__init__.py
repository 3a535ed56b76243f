"""The document and all that it keeps: the model, steps to undo, runs and their files. No widgets here."""
