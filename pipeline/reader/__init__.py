"""What a trainer reads: `TokenStream`, over the rows that `emit` made."""
