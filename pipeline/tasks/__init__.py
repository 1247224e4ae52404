"""What workers do: one kind of task a module, each with `run(task, store) -> Receipt`."""
