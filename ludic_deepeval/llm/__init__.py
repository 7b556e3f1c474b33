"""Asking language models, one way for all of them: `names.open_model("ollama:qwen3:14b").complete("…")`.

Nothing here loads a client until a model is opened, and only `deepeval` imports DeepEval.
"""
