"""What the engine datatrove stands on: its job folder, the step that runs in it, one launcher an executor."""
