#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Opens pages in headless Chromium, over its pipe for tools, and runs steps in them.

report-browser.py CHROMIUM OUT ERR
Standard input has lists of PAGE STEP..., each word ended by a NUL and each list by an empty word. Each page opens in a
context of its own, as in a new browser. What the steps print is left in the file OUT, what is wrong in ERR; the exit
status of the list is a line of standard output: 1 if the console had an error, an exception was not caught, something
was refused or asked of a network.

  size WIDTH HEIGHT     of the window
  scheme light|dark     what the system prefers
  load                  opens the page
  js EXPRESSION         prints what it gives, as JSON
  wait EXPRESSION       until it gives something true, at most 300 s
  key NAME              presses a key
  shot FILE             a picture of the window
  whole FILE            a picture of the whole page
  noscript              from here on pages run no scripts (js and wait do not work)
  paper                 from here on the page looks as it will be printed
  print FILE            the page as PDF
"""
import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time


class Failed(Exception):
    """A step that does not work."""


class Browser:
    def __init__(self, program):
        self.home = tempfile.mkdtemp(prefix="librecord-browser.")
        down, to = os.pipe()
        fro, up = os.pipe()

        def hand_over():
            os.dup2(down, 103)
            os.dup2(up, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-extensions",
             "--disable-sync", "--user-data-dir=" + self.home, "--remote-debugging-pipe", "about:blank"],
            preexec_fn=hand_over, close_fds=False, start_new_session=True, env=dict(os.environ, HOME=self.home,
            XDG_CACHE_HOME=self.home, XDG_CONFIG_HOME=self.home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down)
        os.close(up)
        self.to, self.fro = to, fro
        self.number, self.pending, self.session = 0, b"", None
        self.wrong, self.loaded, self.silent = [], False, False

    def event(self, message):
        method, p = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            detail = p["exceptionDetails"]
            self.wrong.append("exception: " + detail.get("exception", {}).get("description", detail.get("text", "")))
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.wrong.append("console: " + " ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.wrong.append("log: " + p["entry"]["text"])
        elif method == "Audits.issueAdded":
            self.wrong.append("issue: " + json.dumps(p["issue"])[:400])
        elif method == "Network.requestWillBeSent":
            url = p["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.wrong.append("asked for " + url)
        elif method == "Page.loadEventFired":
            self.loaded = True

    def read(self, until, seconds):
        end = time.monotonic() + seconds
        while True:
            while b"\0" in self.pending:
                line, self.pending = self.pending.split(b"\0", 1)
                message = json.loads(line)
                if "id" not in message:
                    self.event(message)
                found = until(message)
                if found is not None:
                    return found
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fro], [], [], left)[0]:
                raise Failed("the browser does not answer")
            more = os.read(self.fro, 1 << 20)
            if not more:
                raise Failed("the browser has ended")
            self.pending += more

    def call(self, method, seconds=300, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        answer = self.read(lambda m: m if m.get("id") == number else None, seconds)
        if "error" in answer:
            raise Failed("%s: %s" % (method, answer["error"]))
        return answer["result"]

    def begin(self):
        """Opens an empty page in a new context."""
        self.wrong, self.loaded, self.silent, self.session = [], False, False, None
        self.context = self.call("Target.createBrowserContext", disposeOnDetach=True)["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.call(domain + ".enable")

    def close(self):
        """Closes the page and its context. What it says from here on is nobody's."""
        self.session = None
        self.call("Target.disposeBrowserContext", browserContextId=self.context)

    def js(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failed("%s: %s" % (expression, answer["exceptionDetails"].get("exception", {}).get("description")))
        return answer["result"].get("value")

    def picture(self, path, whole):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def end(self):
        """Ends it and all that it started, and leaves nothing of it behind."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for _ in range(50):
            shutil.rmtree(self.home, ignore_errors=True)
            if not os.path.exists(self.home):
                break
            time.sleep(0.1)


def run(browser, page, steps):
    while steps:
        word = steps.pop(0)
        if word == "size":
            width, height = int(steps.pop(0)), int(steps.pop(0))
            browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                         mobile=width < 600)
        elif word == "scheme":
            browser.call("Emulation.setEmulatedMedia",
                         features=[{"name": "prefers-color-scheme", "value": steps.pop(0)}])
        elif word == "noscript":
            browser.call("Emulation.setScriptExecutionDisabled", value=True)
            browser.silent = True
        elif word == "paper":
            browser.call("Emulation.setEmulatedMedia", media="print")
        elif word == "load":
            browser.loaded = False
            browser.call("Page.navigate", url="file://" + os.path.abspath(page).replace("%", "%25").replace("#", "%23").replace("?", "%3F"))
            if not browser.loaded:
                browser.read(lambda m: True if browser.loaded else None, 300)
        elif word == "js":
            print(json.dumps(browser.js(steps.pop(0)), ensure_ascii=False))
        elif word == "wait":
            expression, end = steps.pop(0), time.monotonic() + 300
            while not browser.js(expression):
                if time.monotonic() > end:
                    raise Failed("never true: " + expression)
                time.sleep(0.05)
        elif word == "key":
            name = steps.pop(0)
            for kind in ("keyDown", "keyUp"):
                code = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "End": 35, "Home": 36, "Tab": 9}[name]
                text = {"text": "\r"} if name == "Enter" and kind == "keyDown" else {}
                browser.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, **text)
        elif word in ("shot", "whole"):
            if not browser.silent:
                browser.js("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r, 60))))")
            browser.picture(steps.pop(0), word == "whole")
        elif word == "print":
            with open(steps.pop(0), "wb") as file:
                file.write(base64.b64decode(browser.call("Page.printToPDF", printBackground=False)["data"]))
        else:
            raise Failed("no such step: " + word)
    browser.call("Runtime.evaluate", expression="0")


def lists_of(file):
    """Yields the lists of words that come in."""
    words = []
    pending = b""
    while chunk := file.read1(1 << 16):
        *whole, pending = (pending + chunk).split(b"\0")
        for word in whole:
            if word:
                words.append(word.decode())
            else:
                yield words
                words = []


def one(browser, words, out, err):
    """@return the exit status of a list"""
    with open(out, "w", encoding="utf-8") as printed, open(err, "w", encoding="utf-8") as wrong:
        try:
            with contextlib.redirect_stdout(printed):
                browser.begin()
                run(browser, words[0], words[1:])
            browser.close()
        except Failed as why:
            print(why, file=wrong)
            return 1
        for line in browser.wrong:
            print(line, file=wrong)
    return 1 if browser.wrong else 0


def main():
    program, out, err = sys.argv[1:]
    browser = Browser(program)
    try:
        for words in lists_of(sys.stdin.buffer):
            print(one(browser, words, out, err), flush=True)
    finally:
        browser.end()


if __name__ == "__main__":
    main()
