"""Accurate class probabilities on tables of categories and numbers, learned from counts."""
