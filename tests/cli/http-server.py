#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""http-server.py FOLDER LOG: serves the files of FOLDER on this computer, with faults, and prints its port.

The first part of a path says how: /good/F sends parts; /whole/F none; /untold/F none, and not how long it is; /cut/F breaks off
every other answer in the middle; /stop/F breaks off all of them without a byte; /short/F sends less than it announced; /long/F
sends the whole file for a part; /shift/F another part than was asked for; /change/F has another version at each request;
/busy/F is busy at first; /moved/F leads to /good/F; /lureN/F to
an address with secrets; /token/F wants a token; /down/F leads to another scheme; /away/F to a host
that must not see the token; /drip/F sends a byte an answer; /crawl/F begins and then sends a byte now and then, for ever;
/endless/F sends chunks without an end; /fails/F fails behind the first part. Every request is a line of LOG: path, range, Authorization.
"""
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder, log = sys.argv[1:]
counts = {}


def lures(name):
    """Addresses with secrets: of a file, then of what libcurl rejects in different places."""
    secret = "USERQ:PASSW@"
    return [
        f"http://{secret}127.0.0.1:{port}/good/{name}?sig=SECRETQ#FRAGQ",
        f"http://{secret}127.0.0.1:{port}/good/SECRETQ?sig=SECRETQ",
        f"http://{secret}127.0.0.1:1/SECRETQ",
        f"ftp://{secret}127.0.0.1/SECRETQ",
        f"http://{secret}[bad/SECRETQ",
        f"//{secret}/SECRETQ",
        f"http://{secret}127.0.0.1:99999/SECRETQ",
        f"https://{secret}127.0.0.1:{port}/SECRETQ",
        f"http://127.0.0.1:{port}/lure8/SECRETQ?sig=PASSW",
    ]



class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, headers, body):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        how, _, name = self.path.split("?")[0].lstrip("/").partition("/")
        asked = self.headers.get("Range")
        with open(log, "a", encoding="ascii") as f:
            f.write(f"{self.path} {asked} {self.headers.get('Authorization')}\n")
        count = counts[self.path] = counts.get(self.path, 0) + 1
        path = os.path.join(folder, name)
        if how.startswith("lure"):
            self.answer(302, [("Location", lures(name)[int(how[4:])]), ("Content-Length", "0")], b"")
            return
        if how in ("moved", "down", "away"):
            there = {"moved": f"/good/{name}", "down": f"ftp://localhost/{name}", "away": f"http://localhost:{port}/good/{name}"}
            self.answer(302, [("Location", there[how]), ("Content-Length", "0")], b"")
            return
        if how == "busy" and count <= 2:
            self.answer(503, [("Content-Length", "5")], b"later")
            return
        if how in ("endless", "crawl"):
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            chunk = b"10000\r\n" + bytes(65536) + b"\r\n" if how == "endless" else b"1\r\n0\r\n"
            try:
                while True:
                    self.wfile.write(chunk)
                    if how == "crawl":
                        time.sleep(0.1)
            except OSError:
                self.close_connection = True
            return
        if how == "fails" and asked and not asked.startswith("bytes=0-"):
            self.answer(503, [("Content-Length", "0")], b"")
            return
        if how == "token" and self.headers.get("Authorization") != "Bearer secret":
            self.answer(401, [("Content-Length", "2")], b"no")
            return
        if not os.path.isfile(path):
            self.answer(404, [("Content-Length", "4")], b"none")
            return
        with open(path, "rb") as f:
            data = f.read()
        tag = f'"v{count if how == "change" else 1}"'
        if not asked or how in ("whole", "untold", "long"):
            if how == "untold":
                self.send_response(200)
                self.send_header("ETag", tag)
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(data)
                self.close_connection = True
                return
            if how == "long":
                first, last = (int(n) for n in asked[6:].split("-"))
                part = [("Content-Range", f"bytes {first}-{min(last, len(data) - 1)}/{len(data)}")]
                self.answer(206, part + [("Content-Length", str(len(data))), ("ETag", tag)], data)
                return
            self.answer(200, [("Content-Length", str(len(data))), ("ETag", tag)], data)
            return
        first, last = (int(n) for n in asked[6:].split("-"))
        if first >= len(data):
            self.answer(416, [("Content-Range", f"bytes */{len(data)}"), ("Content-Length", "0")], b"")
            return
        last = min(last, len(data) - 1)
        part = data[first : last + 1]
        if how == "shift":
            first, last = first + 1, last + 1
        headers = [("Content-Range", f"bytes {first}-{last}/{len(data)}"), ("Content-Length", str(len(part))), ("ETag", tag)]
        if how in ("stop", "short", "drip") or (how == "cut" and count % 2):
            self.send_response(206)
            for field, value in headers:
                self.send_header(field, value)
            self.end_headers()
            self.wfile.write(part[: {"stop": 0, "cut": len(part) // 2, "short": 1, "drip": 1}[how]] if how != "short" or count == 1 else b"")
            self.wfile.flush()
            self.close_connection = True
            return
        self.answer(206, headers, part)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
port = server.server_address[1]
print(port, flush=True)
server.serve_forever()
