# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plan as C and C++ sources, and as an allowlist."""

HEADER = """\
// Made by test/random: seed %(seed)d.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <pthread.h>

struct ctx {
	uint32_t sum, fuel, tries, jump_value, callback_depth, quiet, may_exit, start;
	jmp_buf *jump;
};
struct record {
	uint32_t value;
	double real;
	uint64_t more[3];
};
#define KEEP %(keep)s
#define MUST __attribute__((musttail))
// All that is not a function of the graph is a macro: it must not be a call.
#define NOTE(what) (c->sum = (c->sum * 33) ^ (uint32_t)(what))
#define TAKE(what)                                                                                 \\
	do {                                                                                       \\
		const uint32_t taken = (what);                                                     \\
		NOTE(taken);                                                                       \\
		x = taken ^ taken >> 3;                                                            \\
	} while (0)
// Not thread_local, which C++ makes a call of.
#define TLS __thread
#ifdef __cplusplus
struct base {
	uint32_t value;
	virtual ~base() = default;
};
struct derived : base {};
struct B {
	virtual uint32_t run(struct ctx *c, uint32_t d, uint32_t x) = 0;
};
extern "C" {
#endif
extern TLS struct ctx *tc;
extern struct ctx early;
typedef uint32_t plain(struct ctx *, uint32_t, uint32_t);
"""

SIGNATURES = {
    "plain": "uint32_t %s(struct ctx *c, uint32_t d, uint32_t x)",
    "inline": "uint32_t %s(struct ctx *c, uint32_t d, uint32_t x)",
    "wide": "uint32_t %s(float f1, struct ctx *c, struct record r, double f2, uint32_t d, long i1, "
            "uint8_t i2, uint32_t y, int64_t i3, long double f3, uint32_t z, double f4)",
    "real": "double %s(struct ctx *c, double y, uint32_t d)",
    "record": "struct record %s(struct ctx *c, uint32_t d, struct record r)",
    "variadic": "uint32_t %s(struct ctx *c, uint32_t d, int count, ...)",
    "compare": "int %s(const void *a, const void *b)",
    "handler": "void %s(int number)",
    "begin": "void %s(void)",
}
# How the value comes in, and goes out.
BEGINNINGS = {"wide": "uint32_t x = y ^ z;\nif (f1 != 1.5f || f2 != 2.5 || f3 != 3.5 || f4 != 4.5 "
    "|| i1 != -1 || i2 != 200 || i3 != -3 || r.value != z || r.more[2] != 9)\n\tabort();",
    "real": "uint32_t x = (uint32_t)y;", "record": "uint32_t x = r.value;\n"
    "if (r.real != 0.5 || r.more[0] != 1 || r.more[2] != 9)\n\tabort();",
    "variadic": "va_list list;\nva_start(list, count);\nuint32_t x = 0;\n"
                "for (int i = 0; i < count; i++)\n\tx ^= va_arg(list, uint32_t);\n"
                "if (va_arg(list, double) != 0.25)\n\tabort();\nva_end(list);",
    "compare": "struct ctx *const c = tc;\nconst uint32_t d = c->callback_depth;\n"
               "uint32_t x = *(const uint32_t *)a ^ *(const uint32_t *)b;",
    "handler": "struct ctx *const c = tc;\nconst uint32_t d = c->callback_depth;\nuint32_t x = 99;",
    "begin": "tc = &early;\nstruct ctx *const c = tc;\nconst uint32_t d = 0;\n"
             # Or the compiler computes it, and there is no call.
             "static volatile uint32_t one = 1;\nuint32_t x = one;\n"
             "c->sum = 1;\nc->fuel = 20;\nc->quiet = 1;",
    "guard": "uint32_t x = 77;",
}
ENDINGS = {
    "real": "return (double)x;",
    "record": "r.value = x;\nreturn r;",
    "compare": "return x & 2 ? -1 : 1;",
    "handler": "", "begin": "", "guard": "",
}


def call(callee, value):
    """An expression that calls CALLEE one level deeper."""
    name = callee.name
    return {"wide": "%s(1.5f, c, (struct record){7, 0.5, {1, 2, 9}}, 2.5, d - 1, -1, 200, "
        "(%s) ^ 7, -3, 3.5, 7, 4.5)", "real": "(uint32_t)%s(c, (double)(%s), d - 1)",
        "record": "%s(c, d - 1, (struct record){%s, 0.5, {1, 2, 9}}).value",
        "variadic": "%s(c, d - 1, 3, (%s) ^ 5, (uint32_t)4, (uint32_t)1, 0.25)",
    }.get(callee.kind, "%s(c, d - 1, %s)") % (name, value)


class Writer:
    def __init__(self, plan):
        self.plan = plan
        self.lines = []
        self.serial = 0

    def put(self, text, *values):
        self.lines.extend((text % values if values else text).split("\n"))

    def name(self):
        self.serial += 1
        return "v%d" % self.serial

    def block(self, body):
        for statement in body:
            getattr(self, "put_" + statement[0])(*statement[1:])

    def put_guarded(self, text, *values):
        self.put("if (d > 0 && c->fuel > 0) {\nc->fuel--;")
        self.put(text, *values)
        self.put("}")

    def put_mix(self, k):
        self.put("x = x * 2654435761u + %uu;\nx = x ^ x >> 15;\nNOTE(x);", k)

    def put_call(self, callee, k):
        self.put_guarded("TAKE(%s);", call(callee, "x ^ %uu" % k))

    def put_table(self, callees, k):
        self.put("{\nstatic plain *const volatile table[] = {%s};",
                 ", ".join(f.name for f in callees))
        self.put_guarded("TAKE(table[(x >> 4) %% %uu](c, d - 1, x ^ %uu));", len(callees), k)
        self.put("}")

    def put_virtual(self, callees, k):
        self.put("{\nB *const objects[] = {%s};", ", ".join("k%d" % f.number for f in callees))
        self.put_guarded("TAKE(objects[(x >> 4) %% %uu]->run(c, d - 1, x ^ %uu));", len(callees), k)
        self.put("}")

    def put_loop(self, count, body):
        name = self.name()
        self.put("for (int %s = 0; %s < %d; %s++) {", name, name, count, name)
        self.block(body)
        self.put("}")

    def put_if(self, mask, body, other):
        self.put("if (x & %uu) {", mask)
        self.block(body)
        self.put("} else {")
        self.block(other)
        self.put("}")

    def put_sort(self, callee):
        self.put_guarded("uint32_t pair[] = {x, x + 1};\nc->callback_depth = d - 1;\n"
                         "qsort(pair, 2, sizeof(*pair), %s);\nNOTE(5);", callee.name)

    def put_search(self, callee, count):
        self.put_guarded("uint32_t key = x, many[%d];\nfor (int i = 0; i < %d; i++)\n"
                         "\tmany[i] = i;\n"
                         "c->callback_depth = d - 1;\n"
                         "if (bsearch(&key, many, %d, sizeof(*many), %s))\n\tabort();\nNOTE(7);",
                         count, count, count, callee.name)

    def put_try(self, body, kinds, handler, again):
        tries, jump = self.name(), self.name()
        self.put("{\nconst uint32_t %s = c->tries;\njmp_buf *const %s = c->jump;", tries, jump)
        if "any" in kinds:
            self.put("c->tries++;")
        self.put("try {")
        self.block(body)
        self.put("}")
        for kind in kinds:
            what, value = {"int": ("int caught", "(uint32_t)caught"),
                           "base": ("base &caught", "caught.value"), "any": ("...", "3u")}[kind]
            self.put("catch (%s) {\nc->tries = %s;\nc->jump = NULL;\nx = x ^ %s;", what, tries,
                     value)
            self.block(handler)
            if again:
                self.put("if (c->tries > 0)\n\tthrow;")
            self.put("}")
        self.put("c->tries = %s;\nc->jump = %s;\n}", tries, jump)

    def put_throw(self, kind):
        self.put("if (c->tries > 0) {")
        if kind == "int":
            self.put("throw (int)(x & 0xffff);")
        else:
            self.put("%s thrown;\nthrown.value = x & 0xffff;\nthrow thrown;", kind)
        self.put("}")

    def put_guard(self, guard, body):
        jump = self.name()
        self.put("{\njmp_buf *const %s = c->jump;\nc->jump = NULL;\n{\nG%d guard = {c, d};", jump,
                 guard.number)
        self.block(body)
        self.put("}\nc->jump = %s;\n}", jump)

    def put_setjmp(self, body, after):
        tries, jump, place = self.name(), self.name(), self.name()
        self.put("{\nconst uint32_t %s = c->tries;\njmp_buf *const %s = c->jump;\njmp_buf %s;\n"
                 "c->jump = &%s;\nif (setjmp(%s) == 0) {", tries, jump, place, place, place)
        self.block(body)
        self.put("} else {\nc->tries = %s;\nc->jump = %s;\nx = x ^ c->jump_value;", tries, jump)
        self.block(after)
        self.put("}\nc->tries = %s;\nc->jump = %s;\n}", tries, jump)

    def put_longjmp(self):
        self.put("if (c->jump) {\nc->jump_value = x | 1;\nlongjmp(*c->jump, 1);\n}")

    def put_raise(self):
        tries, jump = self.name(), self.name()
        self.put("if (!c->quiet && d > 0 && c->fuel > 0) {\nc->fuel--;\n"
                 "c->callback_depth = d - 1;\n"
                 "const uint32_t %s = c->tries;\njmp_buf *const %s = c->jump;\nc->tries = 0;\n"
                 "c->jump = NULL;\nc->quiet = 1;\nraise(SIGUSR1);\nc->tries = %s;\nc->jump = %s;\n"
                 "c->quiet = 0;\n}", tries, jump, tries, jump)

    def put_stack(self, k):
        self.put("{\nvolatile uint8_t room[(x & 63) + 1];\nroom[x & 63] = %uu;\n"
                 "NOTE((x & 63) + room[x & 63]);\n}", k & 0xff)

    def put_exit(self, code):
        self.put("if (c->may_exit && !c->quiet && c->fuel < 40)\n\texit(%d);", code)

    def put_tail(self, callee, k, how="return"):
        self.put_guarded("%s %s;", how, call(callee, "x ^ %uu" % k))

    def put_must(self, callee, k):
        self.put_tail(callee, k, "MUST return")

    def put_function(self, function):
        kind = function.kind
        beginning = BEGINNINGS.get(kind, "")
        if kind == "method":
            self.put("struct K%d : B {\n"
                     "uint32_t run(struct ctx *c, uint32_t d, uint32_t x) override;\n};\n"
                     "static K%d object%d;\nextern \"C\" B *const k%d;\nB *const k%d = &object%d;\n"
                     "KEEP uint32_t K%d::run(struct ctx *c, uint32_t d, uint32_t x)\n{",
                     *[function.number] * 7)
        elif kind == "guard":
            self.put("KEEP G%d::~G%d()\n{\nconst uint32_t above = depth;\n"
                     "const uint32_t d = above ? above - 1 : 0;\n"
                     "const uint32_t tries = c->tries;\njmp_buf *const jump = c->jump;\n"
                     "c->tries = 0;\n"
                     "c->jump = NULL;", function.number, function.number)
        else:
            self.put("%s\n{", self.head(function))
        if has_setjmp(function.body):
            # A longjmp leaves only such variables as they are.
            if beginning:
                beginning = beginning.replace("uint32_t x =", "volatile uint32_t x =")
            else:
                self.put("volatile uint32_t y = x;\n#define x y")
        if beginning:
            self.put(beginning)
        self.put("NOTE(x + %uu);", function.number)
        self.block(function.body)
        if kind == "guard":
            self.put("c->tries = tries;\nc->jump = jump;")
        self.put(ENDINGS.get(kind, "return x;"))
        self.put("#undef x\n}\n")

    def head(self, function):
        keep = "KEEP "
        if function.kind == "inline":
            keep = "inline __attribute__((always_inline)) " if function.always_inline else "inline "
        if function.kind == "begin":
            keep = "KEEP __attribute__((constructor)) "
        return (("static " if function.static else "") + keep + SIGNATURES[function.kind] %
                function.name)

    def put_main(self):
        plan = self.plan
        self.put("static struct ctx all[%d];\nstatic volatile uint32_t fuel = %d;",
                 plan.threads + 1, plan.fuel)
        if not plan.library:
            self.put("TLS struct ctx *tc;\nstruct ctx early;")
        self.put("KEEP void on_exit_report(void)\n{\nprintf(\"early %%u\\n\", early.sum);\n"
                 "for (int i = 0; i < %d; i++)\n"
                 "\tprintf(\"%%u %%u\\n\", all[i].sum, all[i].fuel);\n}\n", plan.threads + 1)
        self.put("KEEP void *thread_main(void *argument)\n{\n"
                 "struct ctx *const c = (struct ctx *)argument;\n"
                 "static plain *const volatile starts[] = {%s};\ntc = c;\n"
                 "const uint32_t result = starts[c->start](c, %du, c->start);\nNOTE(result);\n"
                 "return NULL;\n}\n", ", ".join(f.name for f in plan.starts), plan.depth)
        self.put("int main(void)\n{\npthread_t threads[%d];\nfor (uint32_t i = 0; i <= %d; i++) {\n"
                 "all[i].sum = 1;\nall[i].fuel = fuel;\nall[i].start = i ? i - 1 : 0;\n}\n"
                 "atexit(on_exit_report);\nsignal(SIGUSR1, on_signal);\n"
                 "for (int i = 1; i <= %d; i++)\n"
                 "\tif (pthread_create(&threads[i], NULL, thread_main, &all[i]))\n\t\tabort();\n"
                 "for (int i = 1; i <= %d; i++)\n\tpthread_join(threads[i], NULL);\n"
                 "struct ctx *const c = &all[0];\ntc = c;\nuint32_t result;",
                 plan.threads + 1, *[plan.threads] * 3)
        mine = plan.starts[plan.threads:]
        for i, start in enumerate(mine):
            self.put("c->may_exit = %d;\nresult = %s(c, %du, %du);\nNOTE(result);", i > 0,
                     start.name, plan.depth, 1000 + i)
        self.put("c->may_exit = 1;\nresult = %s(c, %du, 5u);\nNOTE(result);\nreturn 0;\n}",
                 mine[-1].name, plan.depth)

    def header(self, keep):
        self.lines = [HEADER % {"seed": self.plan.seed, "keep": keep}]
        for function in self.plan.functions:
            if function.kind in SIGNATURES and not function.static:
                self.put("%s;", SIGNATURES[function.kind] % function.name)
        self.put("#ifdef __cplusplus\n}")
        for function in self.plan.functions:
            if function.kind == "method":
                self.put("extern \"C\" B *const k%d;", function.number)
            if function.kind == "guard":
                self.put("struct G%d {\nstruct ctx *c;\nuint32_t depth;\n~G%d();\n};",
                         function.number, function.number)
        self.put("#endif")
        return "\n".join(self.lines) + "\n"

    def source(self, file):
        self.lines = []
        self.put('#include "random.h"')
        plan = self.plan
        own = [function for function in plan.functions if function.file == file
               and function not in plan.special]
        if self.plan.in_library(own[0] if own else plan.main) or file.startswith("lib."):
            self.put("TLS struct ctx *tc;\nstruct ctx early;")
        cxx = file.endswith(".cpp")
        for function in own:
            if function.static:
                if cxx:
                    self.put("extern \"C\" {")
                self.put("%s;", self.head(function))
                if cxx:
                    self.put("}")
        # Inline functions before those that call them.
        for function in sorted(own, key=lambda function: function.kind != "inline"):
            linkage = cxx and function.kind in SIGNATURES
            if linkage:
                self.put("extern \"C\" {")
            self.put_function(function)
            if linkage:
                self.put("}")
        if file == plan.files[0]:
            if cxx:
                self.put("extern \"C\" {\nKEEP void on_exit_report(void);\n"
                         "KEEP void *thread_main(void *);\n}")
            self.put_main()
        return "\n".join(self.lines) + "\n"


def has_setjmp(body):
    return any(statement[0] == "setjmp" or any(has_setjmp(part) for part in statement
                                               if isinstance(part, list) and part
                                               and isinstance(part[0], tuple))
               for statement in body)


def allowlist(plan):
    lines = ["fun:*", "name:base::*=skip", "name:derived::*=skip", "fun:_GLOBAL__*=skip",
             "fun:__cxx_global*=skip"]
    for function in plan.functions:
        level = function.level
        if level != "event":
            text = level if isinstance(level, str) else "sample/%d" % level[1]
            # Static functions are mangled even where linkage is C's.
            mangled = "::" in function.name or function.static and function.file.endswith(".cpp")
            key = "name:%s(*" if mangled else "fun:%s"
            lines.append("%s=%s" % (key % function.name, text))
    return "\n".join(lines) + "\n"
