# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""teeperf fleet push, teeperf export --push: send runs to ClickHouse, or a profile to Pyroscope or
Parca, over HTTP.

cli/fleet/push.c starts this with TEEPERF URL USER PASSWORD_FILE CA_FILE RETRIES "fleet" or
"export", and the arguments of Fleet or push_profile; what was not given is empty."""

import base64
import contextlib
import hashlib
import http.client
import itertools
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import uuid

CONNECT_S, ANSWER_S = 10, 300  # to wait for a connection, and for an answer
ANSWER_MAX = 256 << 20
TEEPERF, URL, USER, PASSWORD_FILE, CA_FILE, RETRIES, KIND = sys.argv[1:8]


class Failure(Exception):
    """The fault, and the file or address that it is about."""

    def __init__(self, what, where=URL):
        super().__init__(what)
        self.what, self.where = what, where


def clean(text):
    """As a terminal can show it."""
    return "".join(c if c.isprintable() else "?" * len(c.encode(errors="replace")) for c in text)


def say(what):
    name = "fleet push" if KIND == "fleet" else "export"
    print("teeperf %s: %s" % (name, what), file=sys.stderr, flush=True)


def secret(path, what):
    """The first line of a file."""
    try:
        with open(path, "rb") as file:
            line = re.split(rb"[\r\n]", file.read(4096), maxsplit=1)[0]
    except OSError as error:
        raise Failure("cannot read %s: %s" % (what, error.strerror), path) from error
    if re.search(rb"[\x00-\x1f\x7f]", line):
        raise Failure("%s has a control character" % what, path)
    return line


def names(folder):
    """Of the files in a folder, if it is there."""
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


class Server:
    """Takes requests, which are repeated if they may succeed later."""

    def __init__(self, url, headers, refused):
        self.url, self.parts = url, urllib.parse.urlsplit(url)
        self.headers, self.refused = headers, refused
        self.requests = 0
        self.context = None
        if self.parts.scheme == "https":
            try:
                self.context = ssl.create_default_context(cafile=CA_FILE or None)
            except OSError as error:
                raise Failure("cannot read the certificates: %s" % error.strerror,
                              CA_FILE) from error

    def connect(self, headers):
        """A connection, by the proxy that the environment names, and the path to ask there."""
        parts, path = self.parts, self.parts.path or "/"
        path += "?" + parts.query if parts.query else ""
        proxies = urllib.request.getproxies()
        proxy = proxies.get(parts.scheme) or proxies.get("all")
        if urllib.request.proxy_bypass(parts.netloc):
            proxy = None
        at = urllib.parse.urlsplit(proxy if "://" in proxy else "http://" + proxy) \
            if proxy else parts
        who = {}
        if at.username:
            words = urllib.parse.unquote_to_bytes("%s:%s" % (at.username, at.password or ""))
            who["Proxy-Authorization"] = b"Basic " + base64.b64encode(words)
        if self.context:
            connection = http.client.HTTPSConnection(at.hostname, at.port, timeout=CONNECT_S,
                                                     context=self.context)
            if proxy:
                connection.set_tunnel(parts.hostname, parts.port, who)
        else:
            connection = http.client.HTTPConnection(at.hostname, at.port, timeout=CONNECT_S)
            if proxy:
                path = "http://" + parts.netloc + path
                headers.update(who)
        connection.connect()
        connection.sock.settimeout(ANSWER_S)
        return connection, path

    def once(self, body):
        """The status and body of the answer."""
        headers = dict(self.headers)
        connection, path = self.connect(headers)
        with contextlib.closing(connection):
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            text = answer.read(ANSWER_MAX)
            if answer.length:
                raise http.client.IncompleteRead(b"", answer.length)
            return answer.status, text

    def send(self, body):
        """The answer, of status 200. No answer, and status 5xx, 408 and 429, are tried again."""
        for tried in itertools.count():
            self.requests += 1
            try:
                status, answer = self.once(body)
                if status == 200:
                    return answer
                line = clean(answer.partition(b"\n")[0].decode(errors="replace"))[:300]
                what, again = self.refused(status, line), status >= 500 or status in (408, 429)
            except (OSError, http.client.HTTPException, ValueError) as error:
                what = getattr(error, "strerror", None) or str(error) or "no answer"
                what = "cannot send the request: " + clean(what)
                again = isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)) or not \
                    isinstance(error, (ssl.SSLError, http.client.InvalidURL, ValueError))
            if not again or tried == int(RETRIES):
                raise Failure(what, self.url)
            wait = min(0.5 * 2 ** min(tried, 9), 30)
            say("warning: %s: retrying in %g seconds" % (what, wait))
            time.sleep(wait)
        return None


# ---- a fleet, to ClickHouse


class Fleet:
    """What makes a run count is its row in `runs`, which is sent last. So there are three cases:
    the row is there, and the run is not sent; it is not, and no others are; or others are there of
    a push that did not end, and are replaced by the same ones, as each table has a key that no two
    rows of a run share."""

    def __init__(self, folder, database, batch, quiet, *tables):
        self.folder, self.database, self.batch = folder, database, int(batch)
        self.quiet, self.tables = bool(quiet), tables
        self.runs = self.already = self.rows = self.bytes = 0
        headers = {}
        if USER:
            headers["X-ClickHouse-User"] = os.fsencode(USER)
        if PASSWORD_FILE:
            # Not in the URL, which servers log.
            headers["X-ClickHouse-Key"] = secret(PASSWORD_FILE, "the password")
        # A Distributed table is to have the rows when the server says so, and an error is to have
        # its status.
        url = URL + "/" * (not URL.endswith("/"))
        self.server = Server(url + "?insert_distributed_sync=1&wait_end_of_query=1", headers,
                             self.refused)

    def refused(self, status, line):
        missing = status == 404 and re.search(r"Code: (60|81)[,.]", line)
        return "HTTP status %d: %s%s" % (
            status, line, ": create the tables with 'teeperf fleet schema clickhouse'"
            if missing else "")

    def post(self, body, about):
        try:
            return self.server.send(body)
        except Failure as failure:
            raise Failure(about + failure.what) from failure

    def flush(self, table, lines, first, last):
        """Send the statement and the rows in LINES, which are of the runs FIRST to LAST."""
        runs = "run " + first if first == last else "runs %s to %s" % (first, last)
        body = b"".join(lines)
        self.bytes += len(body)
        self.post(body, "%s, table '%s': " % (runs, table))
        self.rows += len(lines) - 1

    def push_table(self, table, day, program, ids, counts):
        """Send the rows of a table in batches, of which each is larger than asked for: a set of
        results is there as a whole, or not at all."""
        argv = [TEEPERF, "fleet", "push", ":rows", self.folder, table, day, program, self.database]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write("".join(id + "\n" for id in ids).encode())
                process.stdin.close()
            statement = process.stdout.readline()
            columns = re.findall(rb"\w+", statement.partition(b"(")[2].rpartition(b")")[0])
            at = columns.index(b"run_id") if columns else 0
            lines, size, first, last = [statement], len(statement), None, None
            for line in process.stdout:
                values = line.split(b"\t")
                run = values[at].decode()
                if size >= self.batch and (table != "experiments" or run != last):
                    self.flush(table, lines, first, last)
                    lines, size, first = [statement], len(statement), None
                if table == "runs":
                    self.check_run(run, dict(zip(columns, values)), counts)
                counts[table, run] = counts.get((table, run), 0) + 1
                lines.append(line)
                size += len(line)
                first, last = first or run, run
            if process.wait() == 1:
                raise SystemExit(1)  # it has said why
            if process.returncode:
                raise Failure("cannot read table '%s': 'teeperf fleet push :rows' ended with "
                              "status %d" % (table, process.returncode), self.folder)
            if first:
                self.flush(table, lines, first, last)

    def check_run(self, run, row, counts):
        """A run is what its row in `runs` says, or it is not sent."""
        for table in "functions", "paths":
            rows, wanted = counts.get((table, run), 0), int(row[table.encode()])
            if rows != wanted:
                raise Failure("run %s has %d rows in '%s', and its row in 'runs' says %d" %
                              (run, rows, table, wanted), self.folder)

    def push_group(self, day, program, ids, last):
        """The runs of a day and program. LAST: the table that says which runs are there, and which
        goes last."""
        counts = {}
        for table in self.tables if last == "runs" else [last]:
            self.push_table(table, "day=" + day, "program=" + program, ids, counts)
        for run in ids if last == "runs" else []:
            if counts.get(("runs", run), 0) != 1:
                raise Failure("run %s has %d rows in 'runs', not one: if 'teeperf fleet expire' "
                              "was interrupted, run it again" %
                              (run, counts.get(("runs", run), 0)), self.folder)

    def leave_out(self, ids, last):
        """Those that the server does not have."""
        if not ids:
            return ids
        statement = ("SELECT DISTINCT run_id FROM %s.%s WHERE run_id >= '%s' AND run_id <= '%s' "
                     "ORDER BY run_id FORMAT TabSeparated\n" %
                     (self.database, last, ids[0], ids[-1]))
        there = self.post(statement.encode(), "cannot list the runs in table '%s': " % last)
        there = set(there.decode().split("\n"))
        self.already += sum(id in there for id in ids)
        return [id for id in ids if id not in there]

    def push_program(self, folder, program, last):
        # Ids have nothing that a statement would have to quote; others are no runs.
        ids = sorted(name[:-5] for name in names(folder)
                     if re.fullmatch(r"[0-9a-f-]{16,}\.json", name))
        ids = self.leave_out(ids, last)
        left = len(ids)
        for date, group in itertools.groupby(ids, lambda id: id[:8]):
            group = list(group)
            day = "%s-%s-%s" % (date[:4], date[4:6], date[6:])
            rows = self.rows
            self.push_group(day, program, group, last)
            self.runs += len(group)
            left -= len(group)
            if not self.quiet:
                name = os.fsdecode(urllib.parse.unquote_to_bytes(os.fsencode(program)))
                say("%s, '%s': %d runs, %d rows%s" % (
                    day, clean(name), len(group), self.rows - rows,
                    "; %d of its runs left" % left if left else ""))

    def push(self):
        manifest = os.path.join(self.folder, "manifest")
        try:
            for kind, last in ("program=", "runs"), ("experiment=", "experiments"):
                for name in names(manifest):
                    if name.startswith(kind):
                        self.push_program(os.path.join(manifest, name), name[len(kind):], last)
        except OSError as error:
            raise Failure(error.strerror, error.filename) from error
        finally:
            if not self.quiet:
                say("pushed %d runs: %d rows in %d bytes, %d requests; %d were already there" %
                    (self.runs, self.rows, self.bytes, self.server.requests, self.already))


# ---- a profile, to Pyroscope or Parca
#
# Rejected: Pyroscope's POST /ingest, whose labels are in the URL as name{a=b,c=d}, where no value
# can have a ',' or '}'; and gRPC, for which a program would need HTTP/2.

PATHS = {"pyroscope": "/push.v1.PusherService/Push", "parca": "/profiles/writeraw"}


def remedy(kind, status, line):
    if "ingestion window" in line:
        return ": the server does not accept profiles of recordings this old: push them sooner, " \
               "or raise its limit (Pyroscope: reject_older_than)"
    if status in (401, 403):
        return ": authenticate with --user and --password-file, or --token-file"
    if status in (404, 405, 415):
        return ": is this a Pyroscope server? For Parca, give --server parca" \
            if kind == "pyroscope" else \
            ": is this a Parca server? For Pyroscope, give --server pyroscope"
    if status == 413 or "limit" in line or "too large" in line:
        return ": raise the server's limit, or make the profile smaller with --depth, " \
               "--min-time or --focus"
    return ": give the server's current address" if 300 <= status < 400 else ""


def push_profile(kind, token_file, tenant, *labels):
    """Send the pprof on standard input. Such servers cannot be asked what they have, and add up
    what they are sent; so a profile that is sent again has the same UUID (RFC 9562, version 8)."""
    profile = sys.stdin.buffer.read()
    headers = {"Content-Type": "application/json"}
    if token_file:
        headers["Authorization"] = b"Bearer " + secret(token_file, "the token")
    elif USER:
        password = secret(PASSWORD_FILE, "the password") if PASSWORD_FILE else b""
        headers["Authorization"] = b"Basic " + base64.b64encode(
            os.fsencode(USER) + b":" + password)
    if tenant:
        headers["X-Scope-OrgID"] = os.fsencode(tenant)
    # Both servers demand the label __name__: what kind of profile it is.
    pairs = dict([("__name__", "teeperf")], **dict(label.split("=", 1) for label in labels))
    named = [{"name": name, "value": os.fsencode(value).decode(errors="replace")}
             for name, value in pairs.items()]
    sample = {"rawProfile": base64.b64encode(profile).decode()}
    if kind == "pyroscope":
        headers["Connect-Protocol-Version"] = "1"
        ident = bytearray(hashlib.sha256(profile).digest()[:16])
        ident[6], ident[8] = ident[6] & 15 | 0x80, ident[8] & 63 | 0x80
        sample["ID"] = str(uuid.UUID(bytes=bytes(ident)))
    body = json.dumps({"series": [{"labels": named if kind == "pyroscope" else {"labels": named},
                                   "samples": [sample]}]}, separators=(",", ":")).encode()
    # Some documents have the whole address, some the server's alone.
    url = URL.rstrip("/")
    url += "" if url.endswith(PATHS[kind]) else PATHS[kind]
    Server(url, headers, lambda status, line: "HTTP status %d%s%s%s" % (
        status, ": " if line else "", line, remedy(kind, status, line))).send(body)
    say("pushed %d bytes to '%s'" % (len(body), clean(url)))


signal.signal(signal.SIGINT, signal.SIG_DFL)
try:
    if KIND == "fleet":
        Fleet(*sys.argv[8:]).push()
    else:
        push_profile(*sys.argv[8:])
except Failure as failed:
    say("'%s': %s" % (clean(failed.where), failed.what))
    sys.exit(1)
