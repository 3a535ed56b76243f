"""Files as bytes: written whole or not at all, read with limits, and owned by whoever holds their lock."""
