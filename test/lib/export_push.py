#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""export_push.py TEEPERF TRACE...: servers of ours, which take what Pyroscope and Parca take and
nothing else, get the profiles of each TRACE by 'teeperf export --push'. The rules are those of
grafana/pyroscope (api/push/v1/push.proto, pkg/validation/validate.go) and of parca-dev/parca
(proto/parca/profilestore/v1alpha1/profilestore.proto, pkg/normalizer/validate.go), in our words.
The received profile has the calls and self times of 'analyze', and refusals are reported. The last
TRACE names its machine."""

import base64
import csv
import gzip
import http.server
import io
import json
import os
import re
import socket
import subprocess
import sys
import threading

lib = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, lib)
from protobuf_text import first, parse  # noqa: E402

TEEPERF, TRACES = sys.argv[1], sys.argv[2:]
LABEL = re.compile("[a-zA-Z_][a-zA-Z0-9_]*")
METRIC = re.compile("[a-zA-Z_:][a-zA-Z0-9_:]*")
UUID8 = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def wanted(condition, *what):
    if not condition:
        sys.exit("FAILED: " + " ".join(map(str, what)))


def decode(raw):
    """The profile, without a field that profile.proto does not have."""
    done = subprocess.run(["protoc", "--proto_path", lib, "--decode=Profile", "pprof.proto"],
                          input=gzip.decompress(raw), check=True,
                          stdout=subprocess.PIPE)
    return parse(done.stdout.decode())


def check_profile(profile):
    """What both servers demand: Parca that ids count from 1, Pyroscope that types have no '-'."""
    strings = profile["string_table"]
    wanted(strings[0] == "", "the first string")
    for table in ("mapping", "location", "function"):
        ids = [first(item, "id") for item in profile.get(table, [])]
        wanted(ids == list(range(1, len(ids) + 1)), table, "ids", ids)
    types = [(strings[first(each, "type")], strings[first(each, "unit")])
             for each in profile["sample_type"]]
    wanted(not any("-" in word for pair in types for word in pair), types)
    for location in profile["location"]:
        wanted(first(location, "mapping_id") <= len(profile.get("mapping", [])), location)
        wanted(all(first(line, "function_id") <= len(profile["function"])
                   for line in location["line"]), location)
    for sample in profile["sample"]:
        wanted(len(sample["value"]) == len(types), sample)
        wanted(all(0 < each <= len(profile["location"]) for each in sample["location_id"]), sample)
        wanted(all(0 < first(label, "key") < len(strings) and first(label, "str") < len(strings)
                   for label in sample.get("label", [])), sample)
    return types


def check_labels(pairs):
    wanted(all(set(pair) == {"name", "value"}
               and all(isinstance(each, str) for each in pair.values()) for pair in pairs), pairs)
    labels = {pair["name"]: pair["value"] for pair in pairs}
    wanted(len(labels) == len(pairs) and all(LABEL.fullmatch(name) for name in labels), pairs)
    wanted(METRIC.fullmatch(labels.get("__name__", "")), "a profile without __name__", pairs)
    return labels


def only(items):
    wanted(isinstance(items, list) and len(items) == 1, items)
    return items[0]


class Server(http.server.ThreadingHTTPServer):
    """`plan` has what it does with the next requests: a status, (status, text), or "drop": take it
    and do not answer."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan, self.requests, self.faults = [], [], []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        self.faults.append(sys.exc_info()[1])

    def take(self):
        """The only request since the last time: (headers, labels, id, profile)."""
        wanted(not self.faults, self.faults)
        wanted(len(self.requests) == 1, len(self.requests), "requests")
        return self.requests.pop()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, text):
        self.send_response(status)
        body = text.encode()
        self.send_header("Content-Length", str(len(body)))
        if status == 307:
            self.send_header("Location", "http://elsewhere.example.com/")
        self.end_headers()
        self.wfile.write(body)

    def pyroscope(self, request):
        wanted(self.headers["Connect-Protocol-Version"] == "1", self.headers)
        wanted(set(request) == {"series"}, request)
        series = only(request["series"])
        wanted(set(series) == {"labels", "samples"}, series)
        labels = check_labels(series["labels"])
        wanted(labels.get("service_name"), "a profile of no service", labels)
        sample = only(series["samples"])
        wanted(set(sample) == {"ID", "rawProfile"} and UUID8.fullmatch(sample["ID"]), sample)
        return labels, sample["ID"], sample["rawProfile"]

    def parca(self, request):
        wanted(set(request) == {"series"}, request)
        series = only(request["series"])
        wanted(set(series) == {"labels", "samples"} and set(series["labels"]) == {"labels"}, series)
        sample = only(series["samples"])
        wanted(set(sample) == {"rawProfile"}, sample)
        return check_labels(series["labels"]["labels"]), None, sample["rawProfile"]

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        paths = {"/push.v1.PusherService/Push": self.pyroscope, "/profiles/writeraw": self.parca,
                 "/behind/a/proxy/profiles/writeraw": self.parca}
        try:
            wanted(self.path in paths and self.headers["Content-Type"] == "application/json",
                   self.path, self.headers)
            labels, ident, raw = paths[self.path](json.loads(body))
            raw = base64.b64decode(raw, validate=True)
        except SystemExit as error:
            self.server.faults.append(error)
            self.answer(400, '{"code":"invalid_argument"}')
            return
        self.server.requests.append((dict(self.headers), labels, ident, raw))
        action = self.server.plan.pop(0) if self.server.plan else (200, "{}")
        if action == "drop":
            self.close_connection = True
        else:
            self.answer(*(action if isinstance(action, tuple)
                          else (action, f"this is no\x1b good\x9b day, {action}\nand more")))


def push(status, trace, url, *arguments):
    done = subprocess.run([TEEPERF, "export", "--format", "pprof", "--push", url, *arguments,
                           trace], check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=100,
                          env={**os.environ, "no_proxy": "127.0.0.1"})
    text = done.stderr.decode()
    wanted(done.returncode == status and not done.stdout, "exit status", done.returncode, "of push",
           arguments, text)
    return text


def check_sums(trace, raw):
    """Calls and self time of each function are those of analyze."""
    profile = decode(raw)
    types = check_profile(profile)
    wanted(types == [("calls", "count"), ("time", "nanoseconds")], types)
    strings = profile["string_table"]
    names = {first(each, "id"): strings[first(each, "name")] for each in profile["function"]}
    leaf = {first(each, "id"): names[first(each["line"][0], "function_id")]
            for each in profile["location"]}
    found = {}
    for sample in profile["sample"]:
        sums = found.setdefault(leaf[sample["location_id"][0]], [0, 0])
        for i, value in enumerate(sample["value"]):
            sums[i] += value
    text = subprocess.run([TEEPERF, "analyze", "--format", "csv", trace], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    ours = {}
    for row in csv.DictReader(io.StringIO(text.decode())):
        sums = ours.setdefault(row["function"], [0, 0])
        sums[0] += int(row["calls"])
        sums[1] += int(row["self_ns"] or 0)
    wanted({name: sums for name, sums in ours.items() if sums[0]} == found, trace, ours, found)
    return len(found), sum(sums[0] for sums in found.values())


def main():
    server = Server()
    calls = functions = 0
    for trace in TRACES:
        text = push(0, trace, server.url)
        headers, labels, ident, raw = server.take()
        wanted(labels["__name__"] == "teeperf" and "Authorization" not in headers
               and "X-Scope-OrgID" not in headers, labels, headers)
        wanted(re.search(f"pushed [0-9]+ bytes to '{server.url}/push.v1.PusherService/Push'", text),
               text)
        sums = check_sums(trace, raw)
        functions, calls = functions + sums[0], calls + sums[1]
        # The same again has the same id; another profile has another.
        push(0, trace, server.url + "/push.v1.PusherService/Push")
        wanted(server.take()[2] == ident, "another id of the same profile")
        push(0, trace, server.url, "--raw", "--depth", "1")
        wanted(server.take()[2] != ident, "the same id of another profile")
        push(0, trace, server.url, "--server", "parca")
        _, other, _, same = server.take()
        wanted(other == labels and same == raw, "Parca gets something else")
    wanted(labels["host"] == "golden-machine", labels)

    # Labels of the command line override those of the trace; who pushes.
    push(0, TRACES[-1], server.url, "--label", "service_name=checkout", "--label",
         "zone=a, {b}=\"c\"\u00e9", "--label", "__name__=wall",
         "--user", "some body", "--password-file", "password", "--tenant", "team-a")
    headers, labels, _, _ = server.take()
    wanted(labels == {"__name__": "wall", "service_name": "checkout", "zone": "a, {b}=\"c\"\u00e9",
                      "host": "golden-machine"}, labels)
    wanted(headers["Authorization"] == "Basic " + base64.b64encode(b"some body:pass word").decode(),
           headers)
    wanted(headers["X-Scope-OrgID"] == "team-a", headers)
    push(0, TRACES[0], server.url + "/behind/a/proxy/", "--server", "parca", "--token-file",
         "token")
    headers, _, _, _ = server.take()
    wanted(headers["Authorization"] == "Bearer abc.def", headers)

    # What may pass is tried again, and is the same then.
    server.plan = ["drop", 503, 429, 500]
    text = push(0, TRACES[0], server.url)
    wanted([text.count(f": retrying in {wait} seconds") for wait in ("0.5", "1", "2", "4")] ==
           [1] * 4, text)
    wanted("HTTP status 503: this is no? good?? day, 503" in text and "and more" not in text, text)
    idents = {ident for _, _, ident, _ in server.requests}
    wanted(len(server.requests) == 5 and len(idents) == 1, server.requests)
    server.requests.clear()

    # Other failures are reported at once: where, the server's message, and the remedy.
    old = "profile with labels '{}' is outside of ingestion window"
    large = ("exceeds the samples count limit (max_profile_stacktrace_samples, actual: 20000, "
             "limit: 16000)")
    refusals = [
        ((400, '{"code":"invalid_argument","message":"%s"}' % old), "push them soon"),
        ((400, large), "--depth, --min-time or --focus"),
        (401, "--token-file"), (403, "--user and --password-file"), (404, "--server parca"),
        (413, "raise the server's limit"), (307, "the server's current address"),
        (202, "HTTP status 202"),
    ]
    for plan, remedy in refusals:
        server.plan = [plan]
        text = push(1, TRACES[0], server.url)
        server.take()
        said = plan[1] if isinstance(plan, tuple) else f"this is no? good?? day, {plan}"
        wanted(f"{server.url}/push.v1.PusherService/Push" in text and said in text
               and remedy in text and "retrying" not in text, plan, text)
        wanted("pushed" not in text and len(text.splitlines()) == 1, text)
    server.plan = [404]
    text = push(1, TRACES[0], server.url, "--server", "parca")
    wanted("--server pyroscope" in text, text)
    server.take()
    server.plan = [503, 503]
    text = push(1, TRACES[0], server.url, "--retries", "1")
    wanted(text.count("retrying in") == 1 and "HTTP status 503" in text.splitlines()[-1]
           and len(server.requests) == 2, text)
    wanted(not server.faults, server.faults)
    server.shutdown()

    # Nobody is there.
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        text = push(1, TRACES[0], f"http://127.0.0.1:{closed.getsockname()[1]}", "--retries", "1")
    wanted("retrying in 0.5 seconds" in text and "onnect" in text, text)
    print(f"{len(TRACES)} traces, {functions} functions, {calls} calls, by two protocols; "
          f"{len(refusals)} refusals")


if __name__ == "__main__":
    main()
