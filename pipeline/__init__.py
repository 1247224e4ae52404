"""How a recipe becomes finished datasets: recipe, plan, engines, sources, trainer output, command line."""
