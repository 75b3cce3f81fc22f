"""The shell: what is typed (`statements`), how (`prompt`, `words`), and what it does (`interpreter`)."""
