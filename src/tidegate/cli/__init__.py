"""The `tidegate` command: one module per subcommand, loaded only when it runs."""
