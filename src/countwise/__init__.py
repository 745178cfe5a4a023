"""Accurate class probabilities learned from counts."""
