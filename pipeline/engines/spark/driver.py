"""What `spark-submit` is given to run: the command line of this package."""

from gristmill.pipeline.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
