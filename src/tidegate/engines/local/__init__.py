"""The in-process engine: DataFusion for rows, the kernel for windows, one process."""
