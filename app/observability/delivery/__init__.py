"""What becomes of the live traffic: sampled requests, and counts for each campaign."""
