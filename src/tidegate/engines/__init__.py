"""Who drives: sources, row SQL, kernel, sinks, epochs. The engines are strangers to each other.

Each engine is the only package that imports its library, so nothing here may import an engine.
"""
