"""lxml is compiled and ships no types: all of it is Any, rather than an error here and a guess there."""
