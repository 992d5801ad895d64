"""The service: one process that translates and lets one look inside, over HTTP."""

from regard.serving.application import create_app
from regard.serving.catalogue import Catalogue, Served, open_models
from regard.serving.server import Server
from regard.serving.settings import Bounds, Settings

__all__ = ["Bounds", "Catalogue", "Served", "Server", "Settings", "create_app", "open_models"]
