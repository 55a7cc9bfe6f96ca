// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes, checks, keeps and exchanges the builds of teeperf autotune.
#define _GNU_SOURCE
#include "autotune.h"

#include "autotune.h"
#include "cli/driver/driver.h"
#include "allowlists/inventory/inventory.h"
#include "common/process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

static const char *const suffixes[TP_AUTOTUNE_VARIANTS] = {
    [TP_AUTOTUNE_NATIVE] = "native",
    [TP_AUTOTUNE_COUNT] = "count",
    [TP_AUTOTUNE_EVENT] = "event",
    [TP_AUTOTUNE_LIST] = "list",
    [TP_AUTOTUNE_BEST] = "best",
    [TP_AUTOTUNE_FROM] = "from",
};
#define PLACE_SUFFIX "place"
#define BUILD_ALL "the build command must build everything each time, as 'make -B' does"

struct path {
	char text[PATH_MAX];
};

// The file beside a product that holds it in a variant. Paths have been checked to have room for
// it.
static struct path beside(const struct tp_autotune_product *product, const char *suffix)
{
	struct path path;
	if (snprintf(path.text, sizeof(path.text), "%s.teeperf-%s", product->path, suffix) >=
	    (int)sizeof(path.text))
		path.text[0] = '\0';
	return path;
}

// Where a program of this name is: in PATH if it is a plain name that is found there.
static bool find_product(const char *name, char path[PATH_MAX])
{
	char found[TP_DRIVER_PATH_SIZE];
	if (!strchr(name, '/') && access(name, F_OK) && tp_find_program(name, found))
		name = found;
	// A part that is not there yet is made by the build.
	char *real = realpath(name, NULL);
	const int size = snprintf(path, PATH_MAX, "%s", real ? real : name);
	free(real);
	return size < PATH_MAX - 32;
}

static void note_before(struct tp_autotune_product *product)
{
	if (stat(product->path, &product->before))
		memset(&product->before, 0, sizeof(product->before));
}

int tp_autotune_builder_init(struct tp_autotune_builder *builder, const char *const *products,
    uint32_t product_count, struct tp_err *err)
{
	for (uint32_t i = 0; i < product_count; i++) {
		struct tp_autotune_product *product = &builder->products[i];
		memset(product, 0, sizeof(*product));
		if (!find_product(products[i], product->path))
			return tp_err_set(err, TP_ERR_LIMIT, products[i], "the path is too long");
		note_before(product);
	}
	builder->product_count = product_count;
	return 0;
}

// A copy with the same mode and times, through a name that nobody reads. 0 or an errno.
static int copy_file(const char *from, const char *to)
{
	struct stat info;
	int error = 0;
	const int in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return errno;
	unlink(to);
	int out = -1;
	if (fstat(in, &info) == 0)
		out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, info.st_mode & 0777);
	if (out < 0) {
		error = errno;
		close(in);
		return error;
	}
	ssize_t size;
	do {
		size = sendfile(out, in, NULL, 1 << 30);
	} while (size > 0 || (size < 0 && errno == EINTR));
	if (size < 0)
		error = errno;
	const struct timespec times[2] = {info.st_atim, info.st_mtim};
	if (!error && (fchmod(out, info.st_mode & 07777) || futimens(out, times)))
		error = errno;
	close(in);
	if (close(out) && !error)
		error = errno;
	if (error)
		unlink(to);
	return error;
}

static int keep_failed(const struct tp_autotune_product *product, int error, struct tp_err *err)
{
	return tp_err_system(
	    err, error, product->path, "cannot keep a copy next to it (product of the build)");
}

// The build is about to write to the name of a product: the kept copy must not change with it.
static int unshare(const struct tp_autotune_product *product, struct tp_err *err)
{
	struct stat info;
	if (stat(product->path, &info) || info.st_nlink < 2)
		return 0;
	const struct path copy = beside(product, PLACE_SUFFIX);
	int error = copy_file(product->path, copy.text);
	if (!error && rename(copy.text, product->path))
		error = errno;
	return error ? keep_failed(product, error, err) : 0;
}

static bool is_elf(const char *path)
{
	unsigned char magic[SELFMAG];
	FILE *file = fopen(path, "re");
	const bool is = file && fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
			!memcmp(magic, ELFMAG, SELFMAG);
	if (file)
		fclose(file);
	return is;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

// The build has made the product, a program or library.
static int check_made(struct tp_autotune_product *product, struct tp_err *err)
{
	struct stat now;
	if (stat(product->path, &now))
		return tp_err_system(err, errno, product->path,
		    "the build command did not make it; name its products with --product");
	if (!is_elf(product->path))
		return tp_err_set(err, TP_ERR_FORMAT, product->path,
		    "is not an ELF file (a script?): name the programs and libraries that the "
		    "build makes with --product");
	if (is_same_file(&now, &product->before))
		return tp_err_set(err, TP_ERR_FORMAT, product->path,
		    "was not rebuilt by the build command, which must build everything each time, "
		    "as 'make -B' does; or it is not its product: see --product");
	char *real = realpath(product->path, NULL);
	if (real && strlen(real) < PATH_MAX - 32)
		snprintf(product->path, sizeof(product->path), "%s", real);
	free(real);
	return 0;
}

// Without instrumentation there must be no inventory.
static int check_native(const struct tp_autotune_product *product, struct tp_err *err)
{
	struct tp_inventory inventory;
	const char *path = product->path;
	int code = tp_inventory_open(&inventory, &path, 1, err);
	if (code == TP_ERR_NOT_FOUND)
		code = 0;
	else if (!code)
		code = tp_err_set(err, TP_ERR_FORMAT, product->path,
		    "is still instrumented after a build without "
		    "instrumentation ('%s' is): " BUILD_ALL ", and must not set a level itself",
		    inventory.unit_count ? inventory.units[0].main_file : "?");
	tp_inventory_release(&inventory);
	return code;
}

static int check_unit(const struct tp_autotune_builder *builder, const char *product,
    const struct tp_inventory_unit *unit, const char *level, bool list, const char *old,
    struct tp_err *err)
{
	if (strcmp(unit->level, level))
		return tp_err_set(err, TP_ERR_FORMAT, product,
		    "'%s' was compiled for level '%s', not '%s': " BUILD_ALL
		    ", and must not set a level itself",
		    unit->main_file, unit->level, level);
	if (list != (*unit->lists != '\0'))
		return tp_err_set(err, TP_ERR_FORMAT, product,
		    list ? "'%s' was compiled without the list: " BUILD_ALL
			 : "'%s' was compiled with an allowlist: the build command must not set "
			   "one itself, and must build everything each time, as 'make -B' does",
		    unit->main_file);
	if (list && (!strcmp(unit->lists, old) || strcmp(unit->lists, builder->lists)))
		return tp_err_set(err, TP_ERR_FORMAT, product,
		    "'%s' was compiled with another allowlist than this round's: the build "
		    "command must not set one itself, and must build everything each time, as "
		    "'make -B' does",
		    unit->main_file);
	return 0;
}

// Each compiled file has the level and the list that were wanted.
static int check_instrumented(
    struct tp_autotune_builder *builder, const char *level, bool list, struct tp_err *err)
{
	char old[sizeof(builder->lists)];
	memcpy(old, builder->lists, sizeof(old));
	for (uint32_t i = 0; i < builder->product_count; i++) {
		struct tp_inventory inventory;
		const char *path = builder->products[i].path;
		int code = tp_inventory_open(&inventory, &path, 1, err);
		if (code == TP_ERR_NOT_FOUND)
			code = tp_err_set(err, code, path,
			    "has no inventory: the build must use CC='teeperf cc' and CXX='teeperf "
			    "c++', and must not strip the inventory");
		if (!code && list && i == 0 && inventory.unit_count)
			snprintf(
			    builder->lists, sizeof(builder->lists), "%s", inventory.units[0].lists);
		for (uint32_t unit = 0; !code && unit < inventory.unit_count; unit++)
			code = check_unit(
			    builder, path, &inventory.units[unit], level, list, old, err);
		tp_inventory_release(&inventory);
		if (code)
			return code;
	}
	return 0;
}

// Run the command with an environment in which 'teeperf cc' does what the variant needs.
static int run_command(const struct tp_autotune_builder *builder, enum tp_autotune_variant variant,
    const char *list, struct tp_err *err)
{
	static const char *const levels[TP_AUTOTUNE_VARIANTS] = {[TP_AUTOTUNE_NATIVE] = "off",
	    [TP_AUTOTUNE_COUNT] = "count",
	    [TP_AUTOTUNE_EVENT] = "event",
	    [TP_AUTOTUNE_LIST] = "event",
	    [TP_AUTOTUNE_BEST] = "event"};
	char self[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (length < 0)
		return tp_err_system(err, errno, "/proc/self/exe", "cannot find my own file");
	self[length] = '\0';
	struct tp_autotune_setting settings[9] = {{"TEEPERF_LEVEL", levels[variant]},
	    {"TEEPERF_ALLOWLIST", list}, {"TEEPERF_CHECK", "off"}, {"TEEPERF_INVENTORY", NULL}};
	int count = 4;
	if (builder->clock)
		settings[count++] = (struct tp_autotune_setting){"TEEPERF_CLOCK", builder->clock};
	// For makefiles that leave the compiler to make, and builds that ask the environment. These
	// split the value as a shell does: if the path would not survive that, use the name, which
	// PATH finds.
	char words[2][PATH_MAX + 8];
	const char *name = strrchr(self, '/');
	const char *compiler =
	    name && strpbrk(self, " \t\n'\"\\$`&;|<>()[]{}*?!#~") ? name + 1 : self;
	static const char *const compilers[][2] = {{"CC", "cc"}, {"CXX", "c++"}};
	for (int i = 0; i < 2; i++) {
		const char *old = getenv(compilers[i][0]);
		if (old && strstr(old, "teeperf"))
			continue;
		snprintf(words[i], sizeof(words[i]), "%s %s", compiler, compilers[i][1]);
		settings[count++] = (struct tp_autotune_setting){compilers[i][0], words[i]};
	}
	// So that 'teeperf cc' is this one.
	static char path[2 * PATH_MAX];
	const char *old_path = getenv("PATH");
	snprintf(path, sizeof(path), "%.*s:%s", name ? (int)(name - self) : (int)length, self,
	    old_path ? old_path : "/usr/local/bin:/usr/bin:/bin");
	settings[count] = (struct tp_autotune_setting){"PATH", path};
	return tp_autotune_command(builder->argv, settings, builder->log, builder->idle, err);
}

static int keep(
    struct tp_autotune_builder *builder, enum tp_autotune_variant variant, struct tp_err *err)
{
	builder->kept[variant] = true;
	for (uint32_t i = 0; i < builder->product_count; i++) {
		const struct tp_autotune_product *product = &builder->products[i];
		const struct path copy = beside(product, suffixes[variant]);
		const int error = copy_file(product->path, copy.text);
		if (error)
			return keep_failed(product, error, err);
	}
	return 0;
}

int tp_autotune_builder_keep_from(struct tp_autotune_builder *builder, struct tp_err *err)
{
	for (uint32_t i = 0; i < builder->product_count; i++)
		if (!is_elf(builder->products[i].path))
			return tp_err_set(err, TP_ERR_NOT_FOUND, builder->products[i].path,
			    "must exist as it was recorded: a profile itself has no names");
	return keep(builder, TP_AUTOTUNE_FROM, err);
}

int tp_autotune_builder_build(struct tp_autotune_builder *builder, enum tp_autotune_variant variant,
    const char *list, struct tp_err *err)
{
	int code = 0;
	for (uint32_t i = 0; !code && i < builder->product_count; i++) {
		struct tp_autotune_product *product = &builder->products[i];
		if (builder->any_built)
			code = unshare(product, err);
		note_before(product);
	}
	if (!code)
		code = run_command(builder, variant, list, err);
	for (uint32_t i = 0; !code && i < builder->product_count; i++)
		code = check_made(&builder->products[i], err);
	if (code)
		return code;
	builder->any_built = true;
	builder->built = variant;
	builder->placed = variant;
	if (variant != TP_AUTOTUNE_NATIVE)
		code = check_instrumented(
		    builder, variant == TP_AUTOTUNE_COUNT ? "count" : "event", list != NULL, err);
	for (uint32_t i = 0; variant == TP_AUTOTUNE_NATIVE && !code && i < builder->product_count;
	     i++)
		code = check_native(&builder->products[i], err);
	return code ? code : keep(builder, variant, err);
}

int tp_autotune_builder_place(
    struct tp_autotune_builder *builder, enum tp_autotune_variant variant, struct tp_err *err)
{
	if (builder->placed == variant)
		return 0;
	for (uint32_t i = 0; i < builder->product_count; i++) {
		const struct tp_autotune_product *product = &builder->products[i];
		const struct path from = beside(product, suffixes[variant]);
		const struct path name = beside(product, PLACE_SUFFIX);
		unlink(name.text);
		// rename() does nothing if both names are of one file.
		if (link(from.text, name.text) || rename(name.text, product->path))
			return tp_err_system(
			    err, errno, product->path, "cannot put the copy in its place");
		unlink(name.text);
	}
	builder->placed = variant;
	return 0;
}

int tp_autotune_builder_accept(struct tp_autotune_builder *builder, struct tp_err *err)
{
	for (uint32_t i = 0; i < builder->product_count; i++) {
		const struct tp_autotune_product *product = &builder->products[i];
		const struct path from = beside(product, suffixes[TP_AUTOTUNE_LIST]);
		const struct path to = beside(product, suffixes[TP_AUTOTUNE_BEST]);
		if (rename(from.text, to.text))
			return tp_err_system(err, errno, to.text, "cannot rename the copy");
	}
	builder->kept[TP_AUTOTUNE_BEST] = true;
	builder->kept[TP_AUTOTUNE_LIST] = false;
	if (builder->built == TP_AUTOTUNE_LIST)
		builder->built = TP_AUTOTUNE_BEST;
	if (builder->placed == TP_AUTOTUNE_LIST)
		builder->placed = TP_AUTOTUNE_BEST;
	return 0;
}

void tp_autotune_builder_release(struct tp_autotune_builder *builder)
{
	if (builder->any_built && builder->kept[builder->built])
		tp_autotune_builder_place(builder, builder->built, NULL);
	for (uint32_t i = 0; i < builder->product_count; i++) {
		const struct tp_autotune_product *product = &builder->products[i];
		for (int variant = 0; variant < TP_AUTOTUNE_VARIANTS; variant++) {
			const struct path path = beside(product, suffixes[variant]);
			if (builder->kept[variant])
				unlink(path.text);
		}
	}
}
