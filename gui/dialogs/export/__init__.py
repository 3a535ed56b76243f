"""The dialog that exports."""
