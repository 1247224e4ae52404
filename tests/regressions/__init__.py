"""One test for each fault that we know of, with its smallest input."""
