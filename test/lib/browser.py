# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A headless Chromium, driven through chromedriver's W3C HTTP interface with the standard
library."""
import base64
import json
import os
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

KEYS = {"Escape": "\ue00c", "Control": "\ue009", "Enter": "\ue007"}
# Looks, a twentieth of a second apart: for what comes soon, unless the machine is busy.
PATIENCE = 2400


class Browser:
    """Use as a context; input goes through the browser's own event path, not through scripts."""

    def __init__(self, width, height):
        # It leaves files there. Not in the folder of the test: names of sockets are short.
        self.temporary = tempfile.TemporaryDirectory(prefix="teeperf-browser-",
                                                     ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
            env=dict(os.environ, TMPDIR=self.temporary.name))
        try:
            self.start(width, height)
        except BaseException:
            self.driver.terminate()
            self.temporary.cleanup()
            raise

    def start(self, width, height):
        port = None
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                port = line.rsplit("port ", 1)[1].strip().rstrip(".")
                break
        if not port:
            raise RuntimeError("chromedriver does not start")
        self.base = "http://127.0.0.1:%s/session" % port
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     "--disable-dev-shm-usage", "--disable-extensions",
                     "--disable-component-update", "--disable-background-networking",
                     "--disable-sync", "--disable-breakpad", "--mute-audio", "--no-first-run",
                     "--no-default-browser-check", "--window-size=%d,%d" % (width, height)]
        answer = self.call("POST", "", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments, "binary": "/usr/bin/chromium"},
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
            "unhandledPromptBehavior": "ignore",
        }}})
        self.base += "/" + answer["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.temporary.cleanup()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError("%s %s: %s" % (method, path, error.read().decode()[:600])) from None

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def until(self, script):
        """Until the script returns something that is true; the last it returned, however long a
        busy machine took."""
        for _ in range(PATIENCE):
            found = self.run(script)
            if found:
                break
            time.sleep(0.05)
        return found

    def settle(self):
        """Until what was asked for is painted."""
        self.call("POST", "/execute/async", {"args": [], "script":
            "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"})

    def run(self, script):
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def pointer(self, x, y, click=True):
        """Move the mouse to a place in the window, and press and release its button there."""
        actions = [{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
            "actions": actions}]})

    def wheel(self, x, y, delta, *held):
        """Turn the wheel by this number of pixels at a place in the window, with these keys held
        down."""
        self.call("POST", "/actions",
                  {"actions": [{"type": "key", "id": "keyboard",
                                "actions": [{"type": "keyDown", "value": key} for key in held]}]})
        self.call("POST", "/actions", {"actions": [{"type": "wheel", "id": "wheel",
            "actions": [{"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0,
                         "deltaY": delta, "duration": 0}]}]})
        self.call("POST", "/actions",
                  {"actions": [{"type": "key", "id": "keyboard",
                                "actions": [{"type": "keyUp", "value": key} for key in held]}]})

    def keys(self, *names):
        """Press the keys one after the other, and release them in the opposite order."""
        codes = [KEYS.get(name, name) for name in names]
        actions = [{"type": "keyDown", "value": code} for code in codes]
        actions += [{"type": "keyUp", "value": code} for code in reversed(codes)]
        self.call("POST", "/actions", {"actions": [
            {"type": "key", "id": "keyboard", "actions": actions}]})

    def prompt(self, text):
        """Answer the dialogue that is open, or dismiss it with None; return its message."""
        for _ in range(PATIENCE):
            try:
                message = self.call("GET", "/alert/text")
                break
            except RuntimeError as error:
                if "no such alert" not in str(error):
                    raise
                time.sleep(0.05)
        else:
            raise RuntimeError("no dialogue opens")
        if text is None:
            self.call("POST", "/alert/dismiss", {})
        else:
            self.call("POST", "/alert/text", {"text": text})
            self.call("POST", "/alert/accept", {})
        return message

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def requests(self):
        """URLs that pages asked for since the last call."""
        urls = []
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        return urls
