"""Dialogs and windows of their own: export, help, shortcuts, methods."""
