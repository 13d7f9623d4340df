"""Measurements of the package inside a real engine: `python -m kvbudget.bench`."""
