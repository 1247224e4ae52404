"""The engine `spark`: Spark schedules tasks, tries them again and moves the rows of exchanges; text stays out of it."""
