"""How a server comes to be there; one module per launcher."""
