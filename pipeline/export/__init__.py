"""Datasets for trainers that read another format: Hugging Face datasets, MDS, WebDataset, Megatron; a format a file."""
