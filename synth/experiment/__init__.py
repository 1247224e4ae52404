"""The experiment of reference 6.1: does a small model learn to look things up far away from the sequences of `synth`?

Run as `python -m gristmill.synth.experiment`; needs PyTorch, which nothing else of `synth` imports.
"""
