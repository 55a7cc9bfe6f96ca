#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fleet_clickhouse.py TEEPERF FLEET DOCUMENT QUESTIONS: two servers of ClickHouse on loopback, as
two shards of a cluster, get the runs of FLEET by 'teeperf fleet push', whose requests go through a
proxy of ours. One shard is killed in the middle of an insert, an answer is lost, and the command is
killed. Then the statements of DOCUMENT say what the Parquet files do; and the named questions,
about FLEET and the fleet QUESTIONS, say what 'teeperf fleet query' does. Prints what was
compared."""

import collections
import glob
import http.server
import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet_check  # noqa: E402
from fleet_check import wanted  # noqa: E402

TEEPERF, FLEET, DOCUMENT, QUESTIONS = sys.argv[1:5]
TABLES = ("functions", "paths", "profile", "histograms", "path_histograms", "calls", "waits", "io",
          "runs", "experiments")
SQL = re.compile("```sql clickhouse\n(.*?)```", re.DOTALL)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


HTTP, TCP, DATABASE = free_ports(2), free_ports(2), "teeperf"
# Results of experiments: no runs, but pushed as those are.
SETS = len({row["run_id"] for row in fleet_check.table("experiments")})


class Shard:
    """A server that keeps its data when it is killed and started again."""

    def __init__(self, number):
        self.number, self.process = number, None
        self.folder = os.path.abspath(f"shard{number}")
        for name in ("data", "tmp", "formats"):
            os.makedirs(f"{self.folder}/{name}", exist_ok=True)
        shards = "".join(
            "<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</"
            f"host><port>{port}</port></replica></shard>" for port in TCP)
        with open(f"{self.folder}/config.xml", "w", encoding="utf-8") as file:
            file.write(f"""<yandex><logger><level>warning</level><console>1</console></logger>
<listen_host>127.0.0.1</listen_host><http_port>{HTTP[number]}</http_port><tcp_port>{TCP[number]}</tcp_port>
<path>{self.folder}/data/</path><tmp_path>{self.folder}/tmp/</tmp_path><format_schema_path>{self.folder}/formats/</format_schema_path>
<users_config>{self.folder}/users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>16777216</mark_cache_size><remote_servers><fleet>{shards}</fleet></remote_servers></yandex>
""")
        with open(f"{self.folder}/users.xml", "w", encoding="utf-8") as file:
            user = "<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>"
            file.write(
                f"""<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles>
<users><default><password></password>{user}</default><pusher><password>secret word</password>{user}</pusher></users>
<quotas><default/></quotas></yandex>
""")

    def start(self):
        with open(f"{self.folder}/log", "ab") as log:
            self.process = subprocess.Popen(["clickhouse-server",
                                             f"--config-file={self.folder}/config.xml"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(600):
            wanted(self.process.poll() is None, "the server ended: see", f"{self.folder}/log")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{HTTP[self.number]}/ping").read()
                return
            except OSError:
                time.sleep(0.1)
        wanted(False, "the server does not answer")

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def ask(self, statement):
        """Rows of texts."""
        try:
            with urllib.request.urlopen(
                    f"http://127.0.0.1:{HTTP[self.number]}/?wait_end_of_query=1",
                    statement.encode()) as answer:
                return [line.split("\t") for line in answer.read().decode().splitlines()]
        except urllib.error.HTTPError as error:
            return wanted(False, statement, ":", error.read().decode())


class Proxy(http.server.ThreadingHTTPServer):
    """Hands requests on to the first shard; what `at` says of the n-th insert is done instead."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.inserts, self.at = 0, {}
        self.busy = threading.Condition()
        self.requests = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def process_request_thread(self, request, client_address):
        with self.busy:
            self.requests += 1
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.busy:
                self.requests -= 1
                self.busy.notify_all()

    def wait(self):
        """Until no request is on its way: the server does what a killed client has asked for."""
        with self.busy:
            wanted(self.busy.wait_for(lambda: not self.requests, 60), "a request does not end")

    def plan(self, at):
        self.inserts, self.at = 0, at

    def handle_error(self, request, client_address):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        action = None
        if body.startswith(b"INSERT"):
            self.server.inserts += 1
            action = self.server.at.get(self.server.inserts)
        with socket.create_connection(("127.0.0.1", HTTP[0])) as server:
            head = f"POST {self.path} HTTP/1.0\r\nHost: shard\r\nContent-Length: {len(body)}\r\n"
            head += "".join(f"{key}: {self.headers[key]}\r\n"
                            for key in self.headers if key.startswith("X-ClickHouse"))
            server.sendall(head.encode() + b"\r\n" + body[:len(body) // 2])
            if action and action != "lose":
                action()
            server.sendall(body[len(body) // 2:])
            answer = b""
            while piece := server.recv(65536):
                answer += piece
        self.close_connection = True
        if action != "lose":
            self.wfile.write(answer)
        else:
            wanted(b" 200 " in answer.splitlines()[0], "the answer that is lost:", answer)


def push(status, *arguments, fleet=FLEET):
    done = subprocess.run([TEEPERF, "fleet", "push", "--batch", "64K", *arguments, fleet],
                          check=False, stderr=subprocess.PIPE,
                          env={**os.environ, "no_proxy": "127.0.0.1"}, timeout=300)
    text = done.stderr.decode()
    wanted(done.returncode == status, "exit status", done.returncode, "of push", arguments, text)
    return text


def expected_answers():
    """What the document's statements are to say, from the files: sums, runs and percentiles of each
    function; runs of each program."""
    names, runs, sums = {}, collections.defaultdict(set), collections.defaultdict(lambda: [0, 0])
    for row in fleet_check.table("functions"):
        names[row["fn_key"]] = row["function"]
        runs[row["fn_key"]].add(row["run_id"])
        sums[row["fn_key"]][0] += row["calls"]
        sums[row["fn_key"]][1] += row["self_ns"] or 0
    functions = [[str(key), names[key], str(len(runs[key])), str(calls), str(self_ns)]
                 for key, (calls, self_ns) in sorted(sums.items(),
                                                     key=lambda item: (-item[1][1], item[0]))]
    histograms = collections.defaultdict(collections.Counter)
    for row in fleet_check.table("histograms"):
        histograms[row["fn_key"]][row["value_ns"]] += row["calls"]
    percentiles = [[str(key), str(fleet_check.quantile(counts, 0.99))]
                   for key, counts in sorted(histograms.items())]
    programs = collections.defaultdict(lambda: [set(), 0])
    for row in fleet_check.table("runs"):
        programs[row["program"]][0].add(row["run_id"])
        programs[row["program"]][1] += row["calls"]
    programs = [[urllib.parse.unquote(name), str(len(ids)), str(calls)]
                for name, (ids, calls) in sorted(programs.items())]
    return [functions, percentiles, programs]


def check(shard, answers, rows):
    with open(DOCUMENT, encoding="utf-8") as file:
        statements = [part.strip() for block in SQL.findall(file.read())
                      for part in block.split(";") if part.strip()]
    questions = [statement for statement in statements if statement.startswith("SELECT")]
    wanted(len(questions) == len(answers), "statements in the document:", len(questions))
    for statement, answer in zip(questions, answers):
        found = shard.ask(statement)
        wanted(found == answer, statement, "\nfound", found[:3], "wanted", answer[:3], len(found),
               len(answer))
    for table in TABLES:
        [[count]] = shard.ask(f"SELECT count() FROM {DATABASE}.{table} FINAL")
        wanted(int(count) == rows[table], table, "has", count, "rows, not", rows[table])
    return questions


def count_rows():
    return {table: len(fleet_check.table(table)) if glob.glob(f"{FLEET}/{table}/day=*") else 0
            for table in TABLES}


def same(one, other):
    """A value of ClickHouse's TabSeparated, and one of JSON: the last decimal may be rounded
    otherwise."""
    if other is None or one == "\\N":
        return other is None and one == "\\N"
    if isinstance(other, str):
        return one == other
    return math.isclose(float(one), other, rel_tol=1e-9,
                        abs_tol=0.1000001 if isinstance(other, float) else 0)


def named(shard, fleet, database, parameters):
    """Answers to the named questions, of the server and of 'teeperf fleet query'. How many rows
    each has."""
    found = {}
    for name, given in parameters.items():
        given = [word for each in given
                 for word in ([each] if each.startswith("--") else ["--param", each])]
        statement = subprocess.run([TEEPERF, "fleet", "query", "--show", "--dialect",
                                    "clickhouse", "--database", database, *given, name],
                                   check=True, stdout=subprocess.PIPE).stdout.decode()
        rows = json.loads(subprocess.run([TEEPERF, "fleet", "query", "--format", "json", *given,
                                          fleet, name], check=True, stdout=subprocess.PIPE).stdout)
        there = shard.ask(statement.rstrip().rstrip(";"))
        wanted(len(there) == len(rows), name, given, "has", len(there), "rows, not", len(rows),
               there[:2], rows[:2])
        for one, other in zip(there, rows):
            wanted(len(one) == len(other) and all(map(same, one, other.values())), name, given, one,
                   "is not", other)
        found[name] = len(rows)
    return found


def ask_questions(shards):
    """Of two shards, and of one server, with functions that have become slower and recordings that
    have costs."""
    everywhere = {"top": ["most=1000"], "rare": ["program=program1"], "skip": [],
                  "cost": [], "hosts": ["least=0"], "regressions": ["least=0"],
                  "p99": ["function=program0_function3", "quantile=0.9"]}
    found = named(shards[1], FLEET, DATABASE, everywhere)
    wanted(found["top"] > 30 and found["p99"] > 0 and found["cost"] > 2, found)
    for statement in schema("--database", "questions"):
        shards[0].ask(statement)
    push(0, "--to", f"http://127.0.0.1:{HTTP[0]}/", "--database", "questions", fleet=QUESTIONS)
    found = named(shards[0], QUESTIONS, "questions", {"top": [], "rare": ["most=3"],
        "skip": ["most=1000"], "cost": ["program=worse"], "hosts": [], "regressions": [],
        "p99": ["function=lookup", "program=same"]})
    wanted(found["regressions"] == 1 and found["hosts"] == 2 and found["cost"] == 1 and
           found["rare"] == 3 and found["p99"] == 2, found)
    for name, given in (("regressions", ["old=first", "new=second", "least=1"]),
                        ("regressions", ["old=second", "new=first"]),
                        ("top", ["--build=first", "--program=worse"]),
                        ("cost", ["--day=2023-11-15..2023-11-30"]),
                        ("rare", ["--label=environment=canary", "--label=it's=\\"]),
                        ("p99", ["function=lookup", "--label=environment=canary"]),
                        ("hosts", ["program=same"]), ("cost", []), ("p99", ["function=it's \\"])):
        named(shards[0], QUESTIONS, "questions", {name: given})
    return sum(found.values())


def one_server(shard, answers, rows):
    """The tables of one server; and replicated ones, up to the ZooKeeper that is not there."""
    for statement in schema("--database", "single"):
        shard.ask(statement)
    text = push(0, "--to", f"http://127.0.0.1:{HTTP[0]}/", "--database", "single")
    wanted(f"pushed {rows['runs'] + SETS} runs" in text, text)
    for table in TABLES:
        [[count]] = shard.ask(f"SELECT count() FROM single.{table} FINAL")
        wanted(int(count) == rows[table], table, "of one server has", count, "rows, not",
               rows[table])
    [[count]] = shard.ask("SELECT uniqExact(fn_key) FROM single.functions")
    wanted(int(count) == len(answers[0]), "functions of one server")
    parsed = schema("--replicated", "--cluster", "fleet", "--database", "copies")
    wanted(len(parsed) == 21 and
           "ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/copies/functions', "
           "'{replica}')" in parsed[1], parsed)
    try:
        shard.ask(parsed[0])
        urllib.request.urlopen(f"http://127.0.0.1:{HTTP[0]}/", parsed[1].encode())
        wanted(False, "a table is replicated without ZooKeeper")
    except urllib.error.HTTPError as error:
        message = error.read().decode()
        wanted("macro" in message or "ZooKeeper" in message, message)


def schema(*arguments):
    text = subprocess.run([TEEPERF, "fleet", "schema", "clickhouse", *arguments], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    return [part.strip() for part in text.split(";") if part.strip()]


def main():
    answers, rows = expected_answers(), count_rows()
    shards, proxy = [Shard(0), Shard(1)], Proxy()
    to = ("--to", f"http://127.0.0.1:{proxy.server_address[1]}")
    try:
        for shard in shards:
            shard.start()

        # Without tables, and as somebody who may not.
        text = push(1, *to, "--retries", "3")
        wanted("HTTP status 404" in text and "fleet schema clickhouse" in text and
               "retrying in" not in text, text)
        for shard in shards:
            for statement in schema("--cluster", "fleet"):
                shard.ask(statement)
        with open("password", "w", encoding="utf-8") as file:
            file.write("wrong word\n")
        text = push(1, *to, "--user", "pusher", "--password-file", "password")
        wanted("HTTP status 401" in text or "HTTP status 403" in text, text)
        with open("password", "w", encoding="utf-8") as file:
            file.write("secret word\n")
        user = ("--user", "pusher", "--password-file", "password")

        # A shard is lost while an insert is on its way: the message has the run, the table and the
        # server's words.
        proxy.plan({4: shards[1].kill})
        text = push(1, *to, *user, "--retries", "1")
        wanted(re.search(r"run(s [0-9a-f-]+ to)? [0-9]{8}-[0-9a-f-]+, table '[a-z_]+': "
                         r"HTTP status 500: Code: [0-9]+", text), text)
        wanted("retrying in 0.5 seconds" in text and "pushed 0 runs" in text, text)
        [[kept]] = shards[0].ask(f"SELECT count() FROM {DATABASE}.functions_local")
        wanted(int(kept) > 0, "nothing of the runs that are not complete was kept")
        shards[1].start()
        [[runs]] = shards[0].ask(f"SELECT count() FROM {DATABASE}.runs")
        wanted(runs == "0", runs, "runs are there before they are complete")

        # An answer is lost, and a shard comes back while the command waits for it; then the command
        # is killed.
        pushing = subprocess.Popen([TEEPERF, "fleet", "push", "--batch", "64K", *to, *user,
                                    "--retries", "20", FLEET], stderr=subprocess.PIPE,
                                   env={**os.environ, "no_proxy": "127.0.0.1"})
        back = threading.Thread(target=lambda: (shards[1].kill(), time.sleep(1), shards[1].start()))
        groups = len({(row["program"], row["day"]) for row in fleet_check.table("runs")})
        proxy.plan({2: "lose", 5: lambda: (back.start(), time.sleep(0.2)),
                    6 * groups + 2: lambda: pushing.send_signal(signal.SIGKILL)})
        text = pushing.communicate(timeout=300)[1].decode()
        wanted(pushing.returncode == -signal.SIGKILL, pushing.returncode, text)
        back.join()
        proxy.wait()
        wanted(text.count("retrying in") >= 2, text)
        [[some]] = shards[0].ask(f"SELECT count() FROM {DATABASE}.runs")
        wanted(0 < int(some) < rows["runs"], some, "runs when the command was killed")

        # Files are replaced meanwhile; the rest is pushed, and then nothing is.
        subprocess.run([TEEPERF, "fleet", "compact", "-q", FLEET], check=True)
        proxy.plan({})
        text = push(0, *to, *user)
        wanted(f"pushed {rows['runs'] - int(some) + SETS} runs" in text and
               f"{some} were already there" in text, text)
        proxy.plan({})
        text = push(0, "--to", f"http://127.0.0.1:{HTTP[1]}")
        wanted(f"pushed 0 runs: 0 rows in 0 bytes" in text and
               f"; {rows['runs'] + SETS} were already there" in text, text)
        for shard in shards:
            questions = check(shard, answers, rows)
            [[local]] = shard.ask(f"SELECT uniqExact(run_id) FROM {DATABASE}.runs_local")
            wanted(0 < int(local) < rows["runs"], "runs of a shard:", local)
        # How many depends on what the servers have merged meanwhile.
        twice = sum(int(shards[0].ask(f"SELECT count() FROM {DATABASE}.{table}")[0][0])
                    for table in TABLES) - sum(rows.values())
        one_server(shards[0], answers, rows)
        asked = ask_questions(shards)
        [[version]] = shards[0].ask("SELECT version()")
        print(f"ClickHouse {version}: {rows['runs']} runs, {sum(rows.values())} rows, "
              f"{twice} of them twice until they are merged, {len(questions)} statements, "
              f"{len(answers[0])} functions; {asked} rows of named questions")
    finally:
        proxy.shutdown()
        for shard in shards:
            shard.kill()


if __name__ == "__main__":
    main()
