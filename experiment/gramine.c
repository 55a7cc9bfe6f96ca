// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs under Gramine: their manifests, and what Gramine says of their runs.
#include "session.h"

#include "common/out_file.h"
#include "common/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// For a task without a template of its own. Gramine's Jinja replaces text in {{ }}.
static const char plain_template[] =
    "loader.entrypoint.uri = \"file:{{ gramine.libos }}\"\n"
    "libos.entrypoint = \"{{ entrypoint }}\"\n"
    "loader.log_level = \"error\"\n"
    "loader.insecure__use_cmdline_argv = true\n"
    "loader.insecure__use_host_env = true\n"
    "loader.env.LD_LIBRARY_PATH = \"/lib:{{ arch_libdir }}:/usr{{ arch_libdir }}\"\n"
    "fs.insecure__keys.experiment = \"00112233445566778899aabbccddeeff\"\n"
    "fs.mounts = [\n"
    "  { path = \"/lib\", uri = \"file:{{ gramine.runtimedir() }}\" },\n"
    "  { path = \"{{ arch_libdir }}\", uri = \"file:{{ arch_libdir }}\" },\n"
    "  { path = \"/usr{{ arch_libdir }}\", uri = \"file:/usr{{ arch_libdir }}\" },\n"
    "  { path = \"{{ entrypoint }}\", uri = \"file:{{ entrypoint }}\" },\n"
    "  { path = \"/dev/random\", uri = \"dev:/dev/urandom\" },\n"
    "  {% if storage_type == \"encrypted\" %}\n"
    "  { type = \"encrypted\", path = \"{{ cell_directory }}\", uri = \"file:{{ cell_directory "
    "}}\", key_name = \"experiment\" },\n"
    "  {% else %}\n"
    "  { path = \"{{ cell_directory }}\", uri = \"file:{{ cell_directory }}\" },\n"
    "  {% endif %}\n"
    "]\n"
    "sgx.debug = true\n"
    "sgx.enclave_size = \"{{ enclave_size }}\"\n"
    "sgx.max_threads = {{ max_threads }}\n"
    "sgx.enable_stats = true\n"
    "sgx.profile.mode = \"ocall_outer\"\n"
    "sgx.trusted_files = [\n"
    "  \"file:{{ gramine.libos }}\",\n"
    "  \"file:{{ gramine.runtimedir() }}/\",\n"
    "  \"file:{{ arch_libdir }}/\",\n"
    "  \"file:/usr{{ arch_libdir }}/\",\n"
    "  \"file:{{ entrypoint }}\",\n"
    "]\n"
    "{% if storage_type != \"encrypted\" %}\n"
    "sgx.allowed_files = [ \"file:{{ cell_directory }}/\" ]\n"
    "{% endif %}\n";

#if defined(__aarch64__)
#define LIBRARIES "/lib/aarch64-linux-gnu"
#elif defined(__riscv)
#define LIBRARIES "/lib/riscv64-linux-gnu"
#else
#define LIBRARIES "/lib/x86_64-linux-gnu"
#endif

#define DEFAULT_ENCLAVE "256M"
enum {
	THREADS_OF_GRAMINE = 8, // that it needs beside those of the program
	TEMPLATE_SIZE = PATH_MAX + 64
};

const char *tp_gramine_missing(enum tp_variant_kind kind)
{
	static const struct {
		const char *tool;
		const char *why;
		bool sgx; // only that needs it
	} tools[] = {
	    {"gramine-manifest", "Gramine is not installed: 'gramine-manifest' is not in PATH",
		false},
	    {"gramine-direct", "Gramine is not installed: 'gramine-direct' is not in PATH", false},
	    {"gramine-sgx", "Gramine is not installed: 'gramine-sgx' is not in PATH", true},
	    {"gramine-sgx-sign", "Gramine is not installed: 'gramine-sgx-sign' is not in PATH",
		true},
	};
	char path[PATH_MAX];
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if ((!tools[i].sgx || kind == TP_VARIANT_GRAMINE_SGX) &&
		    !tp_find_program(tools[i].tool, path))
			return tools[i].why;
	if (kind != TP_VARIANT_GRAMINE_SGX)
		return NULL;
	if (access("/dev/sgx_enclave", F_OK) && access("/dev/sgx/enclave", F_OK))
		return "this machine has no SGX: /dev/sgx_enclave does not exist";
	return NULL;
}

// The file that Gramine's tools are given: that of the plan, or ours.
static int find_template(const struct tp_experiment *experiment, const struct tp_grid_cell *cell,
    const char *folder, char path[TEMPLATE_SIZE], struct tp_err *err)
{
	const char *given = cell->variant->manifest.text;
	if (given) {
		snprintf(path, TEMPLATE_SIZE, "%s%s%s",
		    *given == '/' ? "" : experiment->plan.folder, *given == '/' ? "" : "/", given);
		return 0;
	}
	struct tp_out_file out;
	snprintf(path, TEMPLATE_SIZE, "%s/program.manifest.template", folder);
	int code = tp_out_file_open(&out, path, err);
	if (code)
		return code;
	tp_buf_add_string(&out.buf, plain_template);
	return tp_out_file_close(&out, err);
}

static int run_tool(const char *const *argv, const char *log, struct tp_err *err)
{
	struct tp_measured ended = {0};
	const struct tp_execution what = {
	    .argv = (char *const *)argv, .cwd = "/", .output = log, .errors = log};
	int code = tp_execute(&what, &ended, err);
	if (!code && ended.status)
		code = tp_err_set(err, TP_ERR_SYSTEM, log,
		    "'%s' failed (%s); its output is in this file", argv[0],
		    ended.how ? ended.how : "");
	tp_measured_release(&ended);
	return code;
}

// The definitions: each factor, and what the plain template wants.
static int render(const struct tp_experiment *experiment, const struct tp_grid_cell *cell,
    const char *folder, const char *program, const char *log, struct tp_err *err)
{
	const struct tp_plan *plan = &experiment->plan;
	struct tp_arena arena;
	char template[TEMPLATE_SIZE];
	char text[PATH_MAX + 128];
	tp_arena_init(&arena);
	const char **argv = tp_arena_alloc(&arena, (plan->column_count + 16) * sizeof(*argv));
	uint32_t count = 0;
	if (!argv)
		return tp_err_memory(err, NULL);
	int code = find_template(experiment, cell, folder, template, err);
#define DEFINE(...)                                      \
	(snprintf(text, sizeof(text), "-D" __VA_ARGS__), \
	    argv[count++] = tp_arena_copy(&arena, text, strlen(text)))
	const char *threads = tp_grid_value(plan, cell, TP_FACTOR_THREADS);
	const char *storage = tp_grid_value(plan, cell, TP_FACTOR_STORAGE);
	argv[count++] = "gramine-manifest";
	for (uint32_t i = 0; i < plan->column_count; i++)
		if (cell->values[i])
			DEFINE("%s=%s", plan->columns[i], cell->values[i]);
	if (!tp_grid_value(plan, cell, TP_FACTOR_ENCLAVE))
		DEFINE("%s=%s", TP_FACTOR_ENCLAVE, DEFAULT_ENCLAVE);
	if (!storage)
		DEFINE("%s=untrusted", TP_FACTOR_STORAGE);
	DEFINE("max_threads=%ld", (threads ? strtol(threads, NULL, 10) : 1) + THREADS_OF_GRAMINE);
	DEFINE("entrypoint=%s", program);
	DEFINE("arch_libdir=%s", LIBRARIES);
	DEFINE("plan_directory=%s", plan->folder);
	DEFINE("cell_directory=%s/%s", experiment->output, cell->name);
#undef DEFINE
	argv[count++] = template;
	snprintf(text, sizeof(text), "%s/program.manifest", folder);
	argv[count++] = text;
	for (uint32_t i = 0; i < count && !code; i++)
		if (!argv[i])
			code = tp_err_memory(err, NULL);
	if (!code)
		code = run_tool(argv, log, err);
	tp_arena_release(&arena);
	return code;
}

int tp_gramine_make(
    const struct tp_experiment *experiment, const struct tp_grid_cell *cell, struct tp_err *err)
{
	char folder[PATH_MAX];
	char log[PATH_MAX + 16];
	char program[PATH_MAX];
	char manifest[PATH_MAX + 32];
	char signed_manifest[PATH_MAX + 32];
	struct tp_cmdline line;
	snprintf(folder, sizeof(folder), "%s/%s/manifest", experiment->output, cell->name);
	snprintf(log, sizeof(log), "%s/log", folder);
	const struct tp_cmdline_place place = {experiment, cell, NULL, folder};
	int code = tp_folder_make(folder, err);
	if (!code)
		code = tp_cmdline_make(&line, &place, TP_CMDLINE_PROGRAM, err);
	else
		return code;
	if (!code && !tp_find_program(line.program, program))
		code = tp_err_set(
		    err, TP_ERR_NOT_FOUND, NULL, "program '%s' does not exist", line.program);
	if (!code)
		code = render(experiment, cell, folder, program, log, err);
	snprintf(manifest, sizeof(manifest), "%s/program.manifest", folder);
	snprintf(signed_manifest, sizeof(signed_manifest), "%s/program.manifest.sgx", folder);
	const char *const sign[] = {
	    "gramine-sgx-sign", "--manifest", manifest, "--output", signed_manifest, NULL};
	if (!code && cell->variant->kind == TP_VARIANT_GRAMINE_SGX)
		code = run_tool(sign, log, err);
	tp_cmdline_release(&line);
	return code;
}
