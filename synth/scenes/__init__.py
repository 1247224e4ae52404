"""Pictures of records: what they show, written as SVG and drawn by the project's own engine."""
