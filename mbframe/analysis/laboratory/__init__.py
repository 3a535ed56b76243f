"""The laboratory: one model computed by many methods, compared."""
