"""The bot process: it says things and hears things, and decides nothing."""
