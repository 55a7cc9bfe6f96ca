#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fleet_push.py TEEPERF FLEET [CERTIFICATE KEY]: a server of ours gets the runs of FLEET by
'teeperf fleet push': rows are those of the Parquet files, a row in runs comes last, and what the
server refuses or does not answer is sent again, or is not. Writes the statements that it got in the
first push to the file 'statements', with a NUL behind each."""

import http.server
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet_check  # noqa: E402
from fleet_check import wanted  # noqa: E402

TEEPERF, FLEET = sys.argv[1:3]
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
TABLES = ("functions", "paths", "profile", "histograms", "path_histograms", "calls", "runs",
          "experiments")


class Server(http.server.ThreadingHTTPServer):
    """Keeps the rows that it gets, as often as they are sent; `plan` has its answers to the next
    requests: a status, or "drop": take it and do not answer."""

    daemon_threads = True

    def __init__(self, certificate=None, key=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan, self.requests, self.rows, self.statements = [], [], [], []
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass

    def runs(self, of="runs"):
        return sorted({row["run_id"] for table, row in self.rows if table == of})


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        server = self.server
        server.requests.append((self.path, dict(self.headers)))
        action = server.plan.pop(0) if server.plan else 200
        if action not in (200, "drop"):
            self.answer(action, f"Code: 42, this is no\x1b good day\nand more")
            return
        statement, _, rows = body.partition("\n")
        text = ""
        if statement.startswith("INSERT"):
            server.statements.append(body)
            table, columns = re.fullmatch(r"INSERT INTO teeperf\.(\w+) \(([a-z_, "
                                          r"]+)\) FORMAT TabSeparated", statement).groups()
            wanted(rows.endswith("\n"), "rows do not end with an end of the line")
            for line in rows[:-1].split("\n"):
                values = [None if value == "\\N"
                          else re.sub(r"\\(.)", lambda match: ESCAPES[match[1]], value)
                          for value in line.split("\t")]
                wanted(len(values) == len(columns.split(", ")), statement, line)
                server.rows.append((table, dict(zip(columns.split(", "), values))))
        else:
            of, first, last = re.search(r"FROM teeperf.(runs|experiments) WHERE run_id >= "
                                        r"'([0-9a-f-]+)' AND run_id <= '([0-9a-f-]+)'",
                                        statement).groups()
            text = "".join(run + "\n" for run in server.runs(of) if first <= run <= last)
        if action == 200:
            self.answer(200, text)
        else:
            self.close_connection = True


def push(status, *arguments):
    done = subprocess.run([TEEPERF, "fleet", "push", *arguments, FLEET],
                          check=False, stderr=subprocess.PIPE, timeout=100,
                          env={**os.environ, "no_proxy": "127.0.0.1"})
    text = done.stderr.decode()
    wanted(done.returncode == status, "exit status", done.returncode, "of push", arguments, text)
    return text


def as_text(value):
    return (value if value is None or
            isinstance(value, str) else "%.17g" % value if isinstance(value, float) else str(value))


def in_order(rows):
    return sorted(tuple(sorted((key, "" if value is None else "=" + value)
                               for key, value in row.items())) for row in rows)


def check_rows(server):
    for table in TABLES:
        found = [row for name, row in server.rows if name == table]
        if table == "calls":
            numbers = {}
            for row in found:
                key = row["run_id"], row["thread"]
                wanted(int(row.pop("call_number")) == numbers.get(key, 0), "number of the call",
                       row)
                numbers[key] = numbers.get(key, 0) + 1
        there = [{**{key: as_text(value) for key, value in row.items()},
                  "program": urllib.parse.unquote(row["program"])}
                 for row in fleet_check.table(table)]
        found, there = in_order(found), in_order(there)
        wanted(found == there, table, len(found), len(there),
               [pair for pair in zip(found, there) if pair[0] != pair[1]][:1])


def check_order(server):
    """Rows of a run come before its row in runs; those of a set of results in one request."""
    complete = set()
    sets = [set(re.findall(r"\t([0-9]{8}-[0-9]{6}-[0-9a-f]{16})\t", statement))
            for statement in server.statements
            if statement.startswith("INSERT INTO teeperf.experiments ")]
    wanted(sum(map(len, sets)) == len(set().union(*sets)) == len(server.runs("experiments")),
           "sets of results:", sets)
    for table, row in server.rows:
        wanted(row["run_id"] not in complete, table, "has a row of a run that is in runs")
        if table == "runs":
            complete.add(row["run_id"])


def main():
    runs = (len(fleet_check.table("runs")) +
            len({row["run_id"] for row in fleet_check.table("experiments")}))
    server = Server()
    to = ("--to", server.url)
    text = push(0, *to, "--batch", "20K")
    wanted(f"pushed {runs} runs: {len(server.rows)} rows in " in text and
           "; 0 were already there" in text, text)
    check_rows(server)
    check_order(server)
    wanted(all(path == "/?insert_distributed_sync=1&wait_end_of_query=1"
               for path, _ in server.requests), server.requests[0])
    wanted(not any(key.startswith("X-ClickHouse") for _, headers in server.requests
                   for key in headers), "who pushes")
    with open("statements", "w", encoding="utf-8") as file:
        file.write("".join(statement + "\0" for statement in server.statements))
    batches = len(server.statements)
    wanted(batches > 20 and all(len(statement) < 25000 or statement.startswith(
        "INSERT INTO teeperf.experiments") for statement in server.statements), batches, "requests")

    # In small requests a set of results is still in one.
    small = Server()
    push(0, "--to", small.url, "--batch", "5K")
    check_order(small)
    wanted(len(small.statements) > batches, "small requests")
    wanted(not small.runs("experiments") or
           any(len(statement) > 6000 for statement in small.statements), "sets in small requests")
    small.shutdown()

    # A second time nothing is sent.
    text = push(0, *to)
    wanted(len(server.statements) == batches and f"pushed 0 runs: 0 rows in 0 bytes" in text and
           f"; {runs} were already there" in text, text)

    # What may pass is tried again, and its rows are there once each, or twice if the server did
    # take them.
    server.rows, server.requests, server.plan = [], [], [503, 200, 429, "drop", 500]
    text = push(0, *to, "--user", "some body", "--password-file", "password")
    wanted(text.count(": retrying in 0.5 seconds") == 2 and
           text.count(": retrying in 1 seconds") == 1, text)
    twice = len(server.rows)
    server.rows = list({(table, *row.items()): (table, row) for table, row in server.rows}.values())
    wanted(twice > len(server.rows), "nothing was sent twice")
    check_rows(server)
    wanted(all(headers["X-ClickHouse-User"] == "some body" and headers["X-ClickHouse-Key"] ==
               "pass word" for _, headers in server.requests), server.requests[0])

    # Other failures are reported at once, with the server's words in a form that is safe for a
    # terminal.
    server.rows, server.requests, server.plan = [], [], [200, 200, 400]
    text = push(1, *to)
    wanted(len(server.requests) == 3 and
           re.search(r"run[s ].*table 'paths': HTTP status 400: Code: 42, this is no\? good day$",
                     text, re.M), text)
    wanted("and more" not in text, text)

    # It goes on from there: what was not complete is sent again.
    text = push(0, *to)
    wanted(f"pushed {runs} runs" in text, text)
    server.shutdown()

    # A run that lacks rows is not sent as one that is whole.
    server = Server()
    missing = sorted(pathlib.Path(FLEET).glob("functions/*/*/*/*.parquet"))[-1]
    missing.rename(missing.with_suffix(".away"))
    text = push(1, "--to", server.url)
    missing.with_suffix(".away").rename(missing)
    lacks = re.search(r"run (\S+) has 0 rows in 'functions', and its row in 'runs' says [1-9]",
                      text)
    wanted(lacks and lacks[1] not in server.runs("runs"), text)
    server.shutdown()

    # Nobody is there.
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        text = push(1, "--to", f"http://127.0.0.1:{closed.getsockname()[1]}", "--retries", "1")
    wanted("retrying in 0.5 seconds" in text and "table 'runs'" in text and "onnect" in text, text)

    # TLS: only with a certificate that is believed, and that is not tried again.
    if len(sys.argv) > 4:
        server = Server(*sys.argv[3:5])
        text = push(1, "--to", server.url)
        wanted("certificate" in text and "retrying" not in text and not server.requests, text)
        text = push(0, "--to", server.url, "--cacert", sys.argv[3])
        check_rows(server)
        server.shutdown()
    print(f"{runs} runs in {batches} requests{', TLS' if len(sys.argv) > 4 else ''}")


if __name__ == "__main__":
    main()
