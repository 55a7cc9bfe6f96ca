# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans, grids, results and tables of 'teeperf experiment', for e2e/experiment/plans."""
import csv
import os
import sys
import tempfile
import unittest
from types import SimpleNamespace

import grid
import measure
import parquet
import plan
import results
import text

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import parquet_read  # pylint: disable=wrong-import-position

TASK = '[[tasks]]\nexecutable = "true"\n'
# What the existing harness takes, as it is.
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "harness.toml"),
          encoding="utf-8") as example:
    HARNESS = example.read()
# The order of the first round by the program in C before this one.
ORDER = [5, 1, 2, 0, 7, 9, 11, 10, 6, 4, 3, 8]
# The same of an interval.
INTERVAL = "0.5 4.5\n"
REFUSED = [
    ('',
     '1:1: the plan has no tasks'),
    ('tasks = []',
     '1:9: the plan has no tasks'),
    ('x = = 1',
     '1:5: this is not TOML: '),
    ('[,t',
     '1:2: this is not TOML: '),
    ('[[tasks]]\nargs = []\n',
     '1:1: a task needs an executable'),
    ('[globals]\nsample_sise = 2\n' + TASK,
     "2:1: [globals] has no key 'sample_sise'; did you mean 'sample_size'?"),
    ('[global]\n' + TASK,
     "1:2: the plan has no key 'global'; did you mean 'globals'?"),
    ('[globals]\nqqqqqqqqq = 2\n' + TASK,
     "2:1: [globals] has no key 'qqqqqqqqq'; teeperf help experiment lists them"),
    ('[globals]\nsample_size = "2"\n' + TASK,
     "2:15: 'sample_size' takes a whole number, as in sample_size = 5; this is a text"),
    ('[globals]\nsample_size = 0\n' + TASK,
     "2:15: 'sample_size' takes a number from 1 to 1000000"),
    ('[globals]\ntimeout = "5"\n' + TASK,
     "2:11: 'timeout' takes a time with its unit"),
    ('[globals]\ntimeout = -1\n' + TASK,
     "2:11: 'timeout' takes a time from 0"),
    ('[globals]\ndebug = 1\n' + TASK,
     "2:9: 'debug' takes true or false"),
    ('[globals]\nenergy_sample_interval = 0\n' + TASK,
     "2:26: 'energy_sample_interval' must be at least 1 ms"),
    ('[globals]\ndisk_read_nj_per_byte = nan\n' + TASK,
     "2:25: 'disk_read_nj_per_byte' takes a number of at least 0"),
    (TASK + 'args = "x"\n',
     "3:8: 'args' takes a list of texts"),
    (TASK + 'args = [1]\n',
     "3:9: 'args' takes a list of texts"),
    (TASK + 'env = { A = [1] }\n',
     "3:13: 'A' takes a list of numbers or texts"),
    (TASK + 'args = ["", "{{ treads }}"]\nnum_threads = [1]\n',
     "3:13: '{{ treads }}' is not a placeholder of task 'true', variant 'native'"),
    (TASK + 'args = ["{{ "]\n',
     "3:9: '{{' has no '}}'"),
    (TASK + 'variants = ["nativ"]\n',
     "3:13: unknown variant 'nativ'; did you mean 'native'?"),
    (TASK + 'variants = ["native", "native"]\n',
     "3:23: variant 'native' is named twice"),
    (TASK + '[variants.x]\nkind = "tee-perf"\n',
     "4:8: 'tee-perf' is not a kind of variant; did you mean 'teeperf'?"),
    (TASK + '[variants.x]\n',
     "3:11: 'x' is not a kind of variant"),
    (TASK + TASK,
     "3:1: two tasks are called 'true'"),
    (TASK + 'storage_type = ["disk"]\n',
     "3:17: 'disk' is not a storage_type"),
    (TASK + 'pre_run_args = []\n',
     "1:1: task 'true' has pre_run_args, but no pre_run_executable"),
    (TASK + 'factors = { task = [1] }\n',
     "3:13: 'task' has a meaning already"),
    (TASK + 'factors = { "a b" = [1] }\n',
     "3:13: a factor's name has 1 to 60"),
    (TASK + 'factors = { a = [1, 1] }\n',
     "3:21: 'a' has the value '1' twice"),
    (TASK + 'factors = { a = [[1]] }\n',
     "3:18: 'a' takes a list of numbers or texts"),
    ('[[tasks]]\nexecutable = "a\\u0000b"\n',
     '2:14: the text has a NUL character'),
]


def read(source):
    made = plan.Plan("plan.toml", source.encode())
    return made, grid.make_cells(made)


class Plans(unittest.TestCase):
    def test_refused(self):
        for source, error in REFUSED:
            with self.subTest(source), self.assertRaises(text.Failure) as caught:
                read(source)
            said = str(caught.exception).replace(": error: ", ": ").removeprefix("plan.toml:")
            self.assertEqual(said[:len(error)], error)

    def test_places(self):
        made, _ = read('# a\n"tasks" = [ { name = """\nx"y""", executable = \'a\', args = [\n'
                       '  "b", # ]\n  "c"], env.A = "d", cwd = "/" } ]\n'
                       "[ variants . 'x.y' ]\nkind = \"native\"\n")
        task = made.tasks[0]
        self.assertEqual((task.name, task.args, task.env), ('x"y', ["b", "c"], [("A", "d")]))
        self.assertEqual([of.place for of in (task.name, *task.args, task.env[0][1])],
                         [(2, 22), (4, 3), (5, 3), (5, 17)])
        self.assertEqual(made.variants["x.y"].place, (6, 14))

    def test_harness(self):
        made, cells = read(HARNESS)
        self.assertEqual([cell.name for cell in cells], [
            "sysbench-native-1-1G", "sysbench-native-2-1G", "sysbench-native-4-1G",
            "sysbench-gramine-sgx-1-1G", "sysbench-gramine-sgx-2-1G", "sysbench-gramine-sgx-4-1G",
            "dd-native-256M", "dd-native-512M", "dd-gramine-sgx-256M-encrypted",
            "dd-gramine-sgx-256M-untrusted", "dd-gramine-sgx-512M-encrypted",
            "dd-gramine-sgx-512M-untrusted"])
        # One run of each, and the deep traces of the five that run natively.
        self.assertEqual(len(grid.order(made, cells, 7)), 12 + 5)
        for cell, source, wanted in (
                (1, "--threads={{ num_threads }}", "--threads=2"), (1, "{{threads}}{{ threads}}",
                                                                    "22"),
                (1, "{{ enclave_size }}/{{ task }}/{{\tvariant }}", "1G/sysbench/native"),
                (9, "{{ storage_type }} {{ output_directory }}/x", "untrusted /out/x"),
                (0, "{ x } }} {{ iteration }}", "{ x } }} 3"),
                (0, "{{build_directory}}/app", "{{ build_directory }}/app")):
            self.assertEqual(grid.expand(cells[cell], source,
                                         {"output_directory": "/out", "iteration": 3}), wanted)

    def test_order(self):
        made, cells = read("[globals]\nsample_size = 5\n[factors]\na = [1, 2, 3, 4]\n"
                           'b = ["x", 2.5]\n' + TASK + '[[tasks]]\nexecutable = "false"\n'
                           "sample_size = 2\nfactors = { b = [] }\n")
        self.assertEqual((len(cells), cells[1].name, cells[8].name),
                         (12, "true-native-1-2.5", "false-native-1"))
        runs = grid.order(made, cells, 7)
        self.assertEqual(len(runs), 8 * 5 + 4 * 2)
        self.assertEqual([run.iteration for run in runs], sorted(run.iteration for run in runs))
        self.assertEqual(len({run[:2] for run in runs}), len(runs))
        self.assertNotEqual([run.cell for run in runs[:12]], cells)
        self.assertEqual(runs, grid.order(made, cells, 7))
        self.assertNotEqual(runs, grid.order(made, cells, 8))
        # As the seed has always ordered them.
        self.assertEqual([cells.index(run.cell) for run in runs[:12]], ORDER)

    def test_names(self):
        _, cells = read('[[tasks]]\nexecutable = "true"\nfactors = { f = ["a b", "a/b", "..", ""] }'
                        '\n[[tasks]]\nexecutable = "x"\nname = "../x"\n')
        names = {cell.name for cell in cells}
        self.assertEqual((len(names), any(set(" /") & set(name) or name[0] == "."
                                          for name in names)), (5, False))

    def test_too_many(self):
        lists = "".join("f%d = [%s]\n" % (f, ", ".join(map(str, range(100)))) for f in range(3))
        with self.assertRaisesRegex(text.Failure, "more than 100000 experiments"):
            read("[factors]\n" + lists + TASK)

    def test_meant(self):
        words = ("native", "teeperf", "perf-stat")
        self.assertEqual([text.meant(word, words) for word in
                          ("natvie", "perfstat", "gramine", "")],
                         ["; did you mean 'native'?", "; did you mean 'perf-stat'?", "", ""])


class Results(unittest.TestCase):
    def test_intervals(self):
        # The ends of the exact distribution of the median of 1 ... n, for odd n from binomials, for
        # even n by drawing all n^n samples: neighbours are further from 2.5 % than 9,999 samples
        # come by chance (five standard deviations).
        runner = measure.Runner(os.environ["TEEPERF"])
        for count, low, high in ((3, 1, 3), (4, 1, 4), (5, 1, 5), (6, 1.5, 5.5), (7, 2, 6),
                                 (11, 3, 9), (13, 4, 10)):
            given = "".join("%d %s\n" % (seed, " ".join(map(str, range(1, count + 1))))
                            for seed in range(5))
            self.assertEqual(runner.part(":intervals", given=given), ("%.17g %.17g\n" %
                                                                     (low, high)) * 5)
        self.assertEqual(runner.part(":intervals", given="1 4 4 4 4\n"), "4 4\n")
        self.assertIsNone(runner.part(":intervals", given="1 4 4\n"))
        # As the seed has always drawn them.
        self.assertEqual(runner.part(":intervals", given="18446744073709551615 0.1 0.25 0.5 0.75 "
                                     "1.5 2.5 3.5 4.5 5.5 6.5\n"), INTERVAL)

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(measure.read(folder))
            made = measure.Measured(0xfedcba9876543210, "2026-11-23T12:00:00Z", 7)
            made.status, made.how = "timed out", "killed after 2 s"
            made.add("wall_time", "s", 0.1)
            made.add("L1-dcache misses/s", "count", 1e300)
            made.add("wall_time", "s", 5)
            made.add("nothing", "s", float("nan"))
            made.note("a\tb\nc")
            made.note("a\tb\nc")
            made.write(folder)
            self.assertEqual(vars(measure.read(folder)), vars(made))
            self.assertEqual((list(made.metrics), made.notes),
                             (["wall_time", "L1_dcache_misses_s"], ["a?b?c"]))
            path = os.path.join(folder, measure.RESULT)
            with open(path, "rb") as file:
                whole = file.read()
            for size in range(len(whole) - 1):
                with open(path, "wb") as file:
                    file.write(whole[:size])
                self.assertIsNone(measure.read(folder))

    def test_tables(self):
        columns = [("name", "TEXT"), ("count", "INTEGER"), ("value", "REAL")]
        rows = [["a,b", 3, 0.1], [None, None, 1.0 / 3], ["=1+1", 0, None], ["-5", -7, 1e300]]
        self.assertEqual(results.csv(columns, rows).decode(),
                         'name,count,value\n"a,b",3,0.1\n,,0.33333333333333331\n'
                         "'=1+1,0,\n-5,-7,1e+300\n")
        self.assertEqual(results.distinct([("A", 0), ("a", 0), ("a_2", 0)]),
                         [("A", 0), ("a_2", 0), ("a_2_2", 0)])
        many = rows * 40000
        for these in ([], rows, many):
            with tempfile.NamedTemporaryFile() as file:
                file.write(parquet.encode(columns, these))
                file.flush()
                found, _ = parquet_read.read(file.name)
            self.assertEqual({name: [value.decode() if isinstance(value, bytes) else value
                                     for value in of] for name, of in found.items()},
                             {name: [row[i] for row in these]
                              for i, (name, _) in enumerate(columns)})

    def test_keys(self):
        # FNV-1a: the values of its authors.
        self.assertEqual(text.hash_bytes(text.HASH_START, b"foobar"), 0x85944171f73967e8)
        line = SimpleNamespace(argv=["a", "b"], variables=[], cwd="/")
        self.assertEqual(grid.hash_line(text.HASH_START, line), text.hash_bytes(
            text.HASH_START, b"a\0b\0\2\0\0\0\0\0\0\0/\0"))
        self.assertEqual(list(csv.reader([results.csv([("x", "TEXT")], [['a"b']]).decode()
                                          .split("\n")[1]])), [['a"b']])


if __name__ == "__main__":
    unittest.main()
