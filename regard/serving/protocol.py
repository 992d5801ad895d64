"""HTTP as it is read: by a parser in C, which by itself would take a head of any size."""

import json

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_MOST = 64 * 1024  # bytes of a request's first line and headers, and what arrived with their end
_NO_HTTP = "this is no HTTP request that can be read: see /openapi.json for what can be asked"


class BoundedProtocol(HttpToolsProtocol):
    """Refuses a request whose head does not end."""

    _is_in_head = False
    _n_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Read on, if the head is not too long by now."""
        self._n_bytes += len(data)
        super().data_received(data)
        if self._is_in_head and self._n_bytes > _MOST and not self.transport.is_closing():
            self.send_400_response(f"the head of a request may have up to {_MOST:,} bytes")

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, as everything is refused: one sentence as JSON."""
        sentence = _NO_HTTP if msg.startswith("Invalid HTTP") else msg
        body = json.dumps({"error": sentence, "code": "http"}).encode()
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
            b"content-length: %d\r\nconnection: close\r\n\r\n%b" % (len(body), body)
        )
        self.transport.close()

    def on_message_begin(self) -> None:
        """A head begins."""
        self._is_in_head, self._n_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """It has ended."""
        self._is_in_head = False
        super().on_headers_complete()
