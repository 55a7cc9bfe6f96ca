#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""push_server.py ROWS PORT: takes what 'teeperf fleet push' inserts, over and over: each row
becomes a line of the file ROWS, behind the name of its table. Which runs are there is what ROWS
says. Writes its port to the file PORT; ends with its parent."""

import ctypes
import http.server
import os
import re
import signal
import sys

ROWS, PORT = sys.argv[1:3]


def rows():
    if not os.path.exists(ROWS):
        return []
    with open(ROWS, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t", 2) for line in file]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        statement, _, lines = body.partition("\n")
        answer = ""
        if statement.startswith("INSERT"):
            table, columns = re.match(r"INSERT INTO teeperf\.(\w+) \(([a-z_, ]+)\)",
                                      statement).groups()
            at = columns.split(", ").index("run_id")
            with open(ROWS, "a", encoding="utf-8") as file:
                for line in lines.splitlines():
                    file.write("\t".join((table, line.split("\t")[at], line)) + "\n")
        else:
            table = re.search(r"FROM teeperf\.(\w+)", statement)[1]
            answer = "".join(run + "\n"
                             for run in sorted({row[1] for row in rows() if row[0] == table}))
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # who fails goes away in the middle of a request


ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
server = Server(("127.0.0.1", 0), Handler)
with open(PORT + ".part", "w", encoding="utf-8") as told:
    told.write(str(server.server_address[1]))
os.rename(PORT + ".part", PORT)
server.serve_forever()
