"""The ground floor: record schemas, shards and their commit, manifest, ledger, samples, inspector."""
