"""From smoothed trees to predictions: compiled look-up, held-out choice, explanations."""
