"""Engine families: facts first, SQL differences after; one module each."""
