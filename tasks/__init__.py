"""How one cell is run: sessions, dialects, launchers and steps."""
