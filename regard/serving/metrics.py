"""What Prometheus is told, in a registry of our own: two services in one process do not mix."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_TOGETHER = (1, 2, 4, 8, 16, 32, 64, 128)

TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counts of requests and batches; nothing that a user wrote."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "regard_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "regard_request_seconds",
            "How long answers took.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._in_flight = Gauge(
            "regard_requests_in_flight", "Requests not answered yet.", registry=self.registry
        )
        self._together = Histogram(
            "regard_batch_sentences",
            "Sentences done together.",
            buckets=_TOGETHER,
            registry=self.registry,
        )
        self._clients = Histogram(
            "regard_batch_requests",
            "Requests done together.",
            buckets=_TOGETHER,
            registry=self.registry,
        )
        self._busy = Counter(
            "regard_engine_seconds", "Seconds the engine has worked.", registry=self.registry
        )

    def begin(self) -> None:
        """A request has arrived."""
        self._in_flight.inc()

    def end(self, method: str, route: str, status: int, seconds: float) -> None:
        """It has its answer."""
        self._in_flight.dec()
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def batch(self, n_items: int, n_requests: int, seconds: float) -> None:
        """A batch is done."""
        self._together.observe(n_items)
        self._clients.observe(n_requests)
        self._busy.inc(seconds)

    def watch_queue(self, n_waiting: Callable[[], int]) -> None:
        """Tell how many sentences wait, whenever somebody asks."""
        gauge = Gauge(
            "regard_queue_sentences", "Sentences that have not begun.", registry=self.registry
        )
        gauge.set_function(n_waiting)

    def written(self) -> bytes:
        """Everything, as Prometheus reads it."""
        return generate_latest(self.registry)
