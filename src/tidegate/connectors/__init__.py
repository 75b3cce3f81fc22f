"""Where rows come from and go to. Shared by the engines; each connector is a module of its own."""
