"""The facade: what a program or a command does with Tidegate, without knowing its rooms."""
