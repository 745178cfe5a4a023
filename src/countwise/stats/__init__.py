"""Counts over batches, and what they say: blocks that add, plans within a memory budget, information measures."""
