"""Outputs and inputs in object storage, against a real server on the loopback (extra `s3`, moto)."""
