"""kvbudget at run time: the budget of `kvbudget plan`, kept inside a serving engine."""
