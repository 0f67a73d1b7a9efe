"""What runs tell, as values and as pages."""
