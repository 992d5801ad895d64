"""The README's pictures of the page, in both languages.

    $ python docs/pictures/studio.py runs/demo/en-fr/model

Serves the demo's model, asks it for one sentence, and shows the lines of one layer. Needs Chromium.
"""

import shutil
import sys
import threading
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from regard.serving import Server, Settings, create_app, open_models

HERE = Path(__file__).parent
TEXT = "The animal didn't cross the street because it was too tired."
SIZE = {"width": 1280, "height": 1190}
NAMES = {"en": "studio.png", "zh": "studio.zh.png"}


def photograph(browser: Browser, address: str, language: str) -> None:
    """The page after the sentence was translated, as a file."""
    page = browser.new_page(viewport=SIZE, locale={"en": "en-GB", "zh": "zh-CN"}[language])
    page.goto(f"{address}/#/look?form=lines&text={TEXT.replace(' ', '+')}&lang={language}")
    page.wait_for_selector(".focus svg.picture path")
    page.wait_for_timeout(500)
    page.screenshot(path=HERE / NAMES[language])
    page.close()


def main(model: str) -> None:
    """Serve, look, and stop serving."""
    settings = Settings(port=0)
    server = Server(create_app(open_models([f"en-fr={model}"]), settings), settings)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [server.socket]})
    thread.start()
    while not server.started:
        time.sleep(0.05)
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            for language in NAMES:
                photograph(browser, server.address, language)
            browser.close()
    finally:
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
