"""The command line, one command or group of commands a file; `main` is the front."""
