"""A translator behind HTTP as it is written in an afternoon: one request after the other.

    $ python benchmarks/plain_server.py FOLDER --port 8001 --threads 2

FOLDER is what `regard export --to huggingface` writes. `serving.py` starts this one beside the
service, and asks it in the same words.
"""

import argparse
from pathlib import Path
from threading import Lock

import torch
import transformers
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Question(BaseModel):
    """The part of our own API that the benchmark uses."""

    text: str
    beam: int = 5


def application(folder: Path) -> FastAPI:
    """A model, a lock, and the library that most people know."""
    transformers.logging.set_verbosity_error()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    app, one_at_a_time = FastAPI(), Lock()

    @app.post("/api/v1/translate")
    def translate(question: Question) -> dict[str, list[dict[str, list[dict[str, str]]]]]:
        with one_at_a_time, torch.inference_mode():
            source = tokenizer(question.text, return_tensors="pt")
            found = model.generate(**source, num_beams=question.beam, max_new_tokens=128)
            text = tokenizer.decode(found[0], skip_special_tokens=True)
        return {"translations": [{"hypotheses": [{"text": text}]}]}

    return app


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", type=int, default=2)
    choice = parser.parse_args()
    torch.set_num_threads(choice.threads)
    uvicorn.run(application(choice.folder), host="127.0.0.1", port=choice.port, log_level="error")


if __name__ == "__main__":
    main()
