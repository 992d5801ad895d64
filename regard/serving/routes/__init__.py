"""The routes: our own under /api/v1, and those that clients of other services know."""
