"""The code that produces a result, by which the store recognises results of other code."""
