"""What came of the runs: ledger, warehouse, verdicts and report."""
