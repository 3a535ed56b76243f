"""The start page: the gallery of examples."""
