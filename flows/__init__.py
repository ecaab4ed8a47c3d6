"""In what order: Prefect flows and the command line."""
