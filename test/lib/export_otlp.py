#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# export_otlp.py TRACE...: the export "otlp" of each, read by protoc, keeps the rules of
# OpenTelemetry's profiles (otlp.proto says which version) and has the calls, self and inclusive
# times of all functions. A server of ours that takes what its specification says gets the first
# one.
import http.server
import os
import re
import subprocess
import sys
import threading

import export_check as check
from protobuf_text import first, parse

lib = os.path.dirname(os.path.abspath(__file__))


def decode(raw):
    return parse(check.run("protoc", "--proto_path", lib, "--decode=Data", "otlp.proto", text=False,
                           stdin=raw).decode())


def clean(name):
    return name.encode(errors="surrogateescape").decode(errors="replace").replace("\ufffd", "?")


def value_of(pair):
    (value,) = pair["value"]
    return first(value, "string_value" if "string_value" in value else "int_value", None)


def check_dictionary(what, data):
    """Item 0 is empty in each table, strings are there once, all references are valid."""
    (tables,) = data["dictionary"]
    for name in ("mapping", "location", "function", "link", "attribute", "stack"):
        if tables[f"{name}_table"][0] != {}:
            check.fail(f"{what}: item 0 of {name}_table is not empty")
    strings = tables["string_table"]
    if strings[0] != "" or len(set(strings)) != len(strings):
        check.fail(f"{what}: strings")
    for table, field, to in (("location", "mapping_index", "mapping"),
                             ("mapping", "filename_strindex", "string"),
                             ("function", "name_strindex", "string"),
                             ("function", "system_name_strindex", "string"),
                             ("function", "filename_strindex", "string"),
                             ("attribute", "key_strindex", "string")):
        if not all(0 <= first(item, field) < len(tables[f"{to}_table"])
                   for item in tables[f"{table}_table"]):
            check.fail(f"{what}: {field} of {table}_table")
    pairs = tables["attribute_table"]
    keys = [strings[first(each, "key_strindex")] for each in tables["attribute_table"][1:]]
    if not all(keys) or len({str(each) for each in pairs}) != len(pairs):
        check.fail(f"{what}: attributes {keys}")
    return tables, strings


def attributes(tables, item):
    pairs = [tables["attribute_table"][i] for i in item.get("attribute_indices", [])]
    return {tables["string_table"][first(pair, "key_strindex")]: value_of(pair) for pair in pairs}


def check_data(trace, options, data):
    calls_first = options[:1] == ("--weight",)
    options = options[2:] if calls_first else options
    wanted, timed = check.reference(trace, *options)
    what = f"{' '.join([trace, *options])}: protoc"
    tables, strings = check_dictionary(what, data)
    (resource,) = data["resource_profiles"]
    said = {first(pair, "key"): value_of(pair) for pair in resource["resource"][0]["attributes"]}
    if not said.get("service.name"):
        check.fail(f"{what}: no service.name in {said}")
    (scope,) = resource["scope_profiles"]
    if first(scope["scope"][0], "name") != "teeperf":
        check.fail(f"{what}: scope {scope['scope']}")
    names = {}
    for i, function in enumerate(tables["function_table"]):
        names[i] = strings[first(function, "name_strindex")]
    frames = {}
    for i, location in enumerate(tables["location_table"]):
        if i:
            (line,) = location["lines"]
            frames[i] = names[first(line, "function_index")]
    sums = {"calls": {}, "time": {}}
    inclusive, slack, threads, ids = {}, {}, set(), set()
    types = []
    for profile in scope["profiles"]:
        (kind,) = profile["sample_type"]
        kind = strings[first(kind, "type_strindex")], strings[first(kind, "unit_strindex")]
        types.append(kind)
        ids.add(first(profile, "profile_id"))
        if "clock " not in attributes(tables, profile).get("teeperf.heading", ""):
            check.fail(f"{what}: the clock is not in the heading")
        seen = set()
        for sample in profile.get("samples", []):
            labels = attributes(tables, sample)
            identity = first(sample, "stack_index"), str(labels)
            if identity in seen or len(sample["values"]) != 1:
                check.fail(f"{what}: sample {sample}")
            seen.add(identity)
            stack = tables["stack_table"][first(sample, "stack_index")]
            path = [frames[i] for i in stack["location_indices"]]
            if "teeperf.path" not in labels:
                threads.add(labels.get("thread.id"))
            into = sums[kind[0]]
            into[path[0]] = into.get(path[0], 0) + sample["values"][0]
            for name in set(path):
                slack[name] = slack.get(name, 0) + 1
                if kind[0] == "time":
                    inclusive[name] = inclusive.get(name, 0) + sample["values"][0]
    if len(ids) != len(scope["profiles"]) or not all(ids):
        check.fail(f"{what}: ids of profiles {ids}")
    order = [("time", "nanoseconds")] * timed + [("calls", "count")]
    check.compare(what, {"types": order[::-1] if calls_first else order},
                  {"types": types})
    ours = {clean(name): f for name, f in wanted.items()}
    exact = check.exact(trace)
    same = check.compare if exact else lambda *a: check.compare_near(*a, slack)
    check.compare(f"{what}: calls", {n: f.calls for n, f in ours.items() if f.calls}, sums["calls"])
    if timed:
        same(f"{what}: self", {n: f.self_ns for n, f in ours.items() if f.self_ns}, sums["time"])
        same(f"{what}: inclusive", {n: f.inclusive for n, f in ours.items() if f.inclusive},
             {n: i for n, i in inclusive.items() if n in ours and ours[n].inclusive})
    rows = check.threads(trace, *options)
    tids = {int(r["tid"]) or int(r["thread"]) for r in rows} if len(rows) > 1 else {None}
    if not threads <= tids or (len(rows) > 1 and len(threads) < 2):
        check.fail(f"{what}: attributes of threads {threads}, not {tids}")


def check_trace(trace, *options):
    file = check.export(trace, "otlp", "export.otlp", *options)
    check_data(trace, options, decode(open(file, "rb").read()))


# ---- over HTTP

PROTOBUF = "application/x-protobuf"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    plan, requests = [], []

    def log_message(self, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, answer = self.plan.pop(0) if self.plan else (200, b"")
        if (self.path, self.headers["Content-Type"]) != ("/v1development/profiles", PROTOBUF):
            status, answer = 404, b""
        self.requests.append(body)
        self.send_response(status)
        self.send_header("Content-Type", PROTOBUF)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def push(url, status, *arguments):
    done = subprocess.run([check.teeperf, "export", "--format", "otlp", "--push", url, *arguments,
                           sys.argv[1]], capture_output=True, text=True,
                          env={**os.environ, "no_proxy": "127.0.0.1"})
    if done.returncode != status:
        check.fail(f"push {arguments} ends with {done.returncode}: {done.stderr}")
    return done.stderr


def check_push():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"

    def says(status, plan, requests, *texts):
        Handler.plan[:] = plan
        Handler.requests.clear()
        text = push(url, status)
        found = all(re.search(each, text) for each in texts)
        if len(Handler.requests) != requests or not found or len(set(Handler.requests)) > 1:
            check.fail(f"{plan}: {len(Handler.requests)} requests: {text}")

    # partial_success (1) with rejected_profiles (1) and error_message (2).
    rejected = b"\x0a\x0a" + b"\x08\x02" + b"\x12\x06no way"
    warned = b"\x0a\x05" + b"\x12\x03hmm"
    says(0, [], 1, f"pushed [0-9]+ bytes to '{url}/v1development/profiles'")
    check_data(sys.argv[1], (), decode(Handler.requests[0]))
    says(0, [(503, b""), (429, b"")], 3, "retrying in 0.5 seconds", "retrying in 1 seconds")
    says(1, [(500, b"oh")], 1, "HTTP status 500: oh")
    says(1, [(400, b"oh")], 1, "HTTP status 400: oh")
    says(1, [(404, b"")], 1, "does this server accept profiles over OTLP/HTTP")
    says(1, [(200, rejected)], 1, "rejected the profile: no way")
    says(0, [(200, warned)], 1, "the server says: hmm", "pushed")
    Handler.requests.clear()
    push(url, 0, "--label", "environment=canary", "--label", "service_name=checkout", "--label",
         "host=here")
    (resource,) = decode(Handler.requests[0])["resource_profiles"]
    said = {first(pair, "key"): value_of(pair) for pair in resource["resource"][0]["attributes"]}
    check.compare("labels", {"environment": "canary", "service.name": "checkout",
                             "host.name": "here"}, said)
    server.shutdown()


for trace in sys.argv[1:]:
    check_trace(trace)
    check_trace(trace, "--raw")
check_trace(sys.argv[1], "--thread", "0")
check_trace(sys.argv[1], "--weight", "calls")
check_push()
check.finish(100)
