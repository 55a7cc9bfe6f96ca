// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps names and source lines by build ID.
#define _GNU_SOURCE
#include "module.h"

#include "common/buf.h"
#include "common/chunks/checksum.h"
#include "analyzer/trace/source.h"
#include "common/read_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x32534d5953505454) // "TTPSYMS2" in memory
#define SUFFIX ".symbols"
#define PATH_SIZE 4096

// The file: this, entries by address, then strings. In the byte order of the machine.
struct header {
	uint64_t magic;
	uint32_t checksum; // of all behind it
	uint32_t build_id_size;
	uint8_t build_id[TP_SYMBOL_CACHE_ID_MAX];
	uint64_t strings_size;
	uint32_t count;
	uint32_t reserved;
};

// The folder, without making it. False if there is no place for one.
static bool folder(char path[PATH_SIZE])
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int length = -1;
	if (cache && cache[0] == '/')
		length = snprintf(path, PATH_SIZE, "%s/teeperf", cache);
	else if (home && home[0] == '/')
		length = snprintf(path, PATH_SIZE, "%s/.cache/teeperf", home);
	return length > 0 && length < PATH_SIZE;
}

static bool file_path(char path[PATH_SIZE], const uint8_t *build_id, uint32_t size)
{
	if (size < TP_SYMBOL_CACHE_ID_MIN || size > TP_SYMBOL_CACHE_ID_MAX || !folder(path))
		return false;
	size_t at = strlen(path);
	if (at + 2 * (size_t)size + sizeof(SUFFIX) + 8 > PATH_SIZE)
		return false;
	path[at++] = '/';
	for (uint32_t i = 0; i < size; i++)
		at += (size_t)snprintf(path + at, 3, "%02x", build_id[i]);
	strcpy(path + at, SUFFIX);
	return true;
}

// Whether a byte, with the one behind it, steers a terminal.
static inline uint8_t is_unfit(const uint8_t *at)
{
	return (uint8_t)((uint8_t)(at[0] - 1) < 0x1f) | (at[0] == 0x7f) |
	       ((at[0] == 0xc2) & ((uint8_t)(at[1] - 0x80) < 0x20));
}

// Whether no byte of the strings steers a terminal: so they were written. There is a byte behind
// SIZE. In blocks, which compilers look at many bytes at a time.
static bool is_clean(const char *text, size_t size)
{
	enum { BLOCK = 64 };
	const uint8_t *at = (const uint8_t *)text;
	uint8_t bad = 0;
	size_t i = 0;
	for (; i + BLOCK <= size; i += BLOCK)
		for (size_t j = i; j < i + BLOCK; j++)
			bad |= is_unfit(at + j);
	for (; i < size; i++)
		bad |= is_unfit(at + i);
	return !bad;
}

// Whether OFFSET is that of a string, or of none.
static bool is_text(uint64_t size, uint32_t offset)
{
	return offset == TP_CACHE_ABSENT || offset < size;
}

static bool parse(struct tp_symbol_cache *cache, const char *data, uint64_t size,
    const uint8_t *build_id, uint32_t build_id_size)
{
	struct header header;
	if (size < sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	const size_t behind = offsetof(struct header, build_id_size);
	const uint64_t room = size - sizeof(header);
	if (header.magic != MAGIC || header.build_id_size != build_id_size ||
	    memcmp(header.build_id, build_id, build_id_size) != 0 ||
	    header.count > room / sizeof(struct tp_cache_entry) ||
	    header.strings_size != room - header.count * sizeof(struct tp_cache_entry) ||
	    header.strings_size >= TP_CACHE_ABSENT ||
	    header.checksum != tp_checksum(data + behind, size - behind))
		return false;
	const struct tp_cache_entry *entries = (const void *)(data + sizeof(header));
	const char *strings = data + sizeof(header) + header.count * sizeof(struct tp_cache_entry);
	// The last string ends with the file; what begins inside ends there at the latest.
	if ((header.strings_size && strings[header.strings_size - 1]) ||
	    !is_clean(strings, header.strings_size))
		return false;
	for (uint32_t i = 0; i < header.count; i++) {
		const struct tp_cache_entry *entry = &entries[i];
		if ((i && entry[-1].address >= entry->address) ||
		    !is_text(header.strings_size, entry->name) ||
		    !is_text(header.strings_size, entry->linkage) ||
		    !is_text(header.strings_size, entry->file) ||
		    (entry->name == TP_CACHE_ABSENT) != (entry->linkage == TP_CACHE_ABSENT))
			return false;
	}
	cache->entries = entries;
	cache->strings = strings;
	cache->count = header.count;
	return true;
}

int tp_symbol_cache_read(struct tp_symbol_cache *cache, const uint8_t *build_id,
    uint32_t build_id_size, struct tp_arena *arena, struct tp_err *err)
{
	char path[PATH_SIZE];
	struct tp_source source;
	*cache = (struct tp_symbol_cache){0};
	if (!file_path(path, build_id, build_id_size) || access(path, R_OK) != 0 ||
	    tp_source_open(&source, path, NULL))
		return 0;
	int code = 0;
	char *data = NULL;
	if (source.size > TP_SYMBOL_CACHE_MAX)
		code = tp_err_set(
		    err, TP_ERR_FORMAT, path, "too large for a symbol cache; it is not used");
	else if (!(data = tp_arena_alloc(arena, source.size + 1)))
		code = tp_err_memory(err, path);
	else if (tp_source_read(&source, 0, data, source.size, NULL) ||
		 !parse(cache, data, source.size, build_id, build_id_size))
		code = tp_err_set(err, TP_ERR_FORMAT, path,
		    "the symbol cache is damaged, or of another version; it is not used");
	else
		utimensat(AT_FDCWD, path, NULL, 0); // it was of use
	tp_source_close(&source);
	return code;
}

// Strings that were added of late, by where they are: many functions share a file, and its name.
#define RECENT_MAX 4096
struct strings {
	struct tp_buf text;
	struct {
		const char *text;
		uint32_t offset;
	} recent[RECENT_MAX];
};

// The offset of TEXT, which is added unless it is there already.
static uint32_t add_text(struct strings *strings, const char *text)
{
	if (!text)
		return TP_CACHE_ABSENT;
	const size_t slot = ((uintptr_t)text ^ (uintptr_t)text >> 12) % RECENT_MAX;
	if (strings->recent[slot].text != text) {
		strings->recent[slot].text = text;
		strings->recent[slot].offset = (uint32_t)strings->text.size;
		tp_buf_add(&strings->text, text, strlen(text) + 1);
	}
	return strings->recent[slot].offset;
}

// The bytes of the file. False if they are too many or memory ran out.
static bool build(struct tp_buf *out, const struct tp_module_symbol *symbols, uint32_t count,
    const uint8_t *build_id, uint32_t build_id_size)
{
	struct header header = {.magic = MAGIC, .build_id_size = build_id_size, .count = count};
	struct strings *strings = calloc(1, sizeof(*strings));
	if (!strings)
		return false;
	struct tp_buf *text = &strings->text;
	tp_buf_init(text);
	memcpy(header.build_id, build_id, build_id_size);
	tp_buf_add(out, &header, sizeof(header));
	for (uint32_t i = 0; i < count && text->size < TP_SYMBOL_CACHE_MAX; i++) {
		const struct tp_module_symbol *symbol = &symbols[i];
		// A name that is not mangled is kept once.
		const bool plain = symbol->name && strcmp(symbol->name, symbol->linkage) == 0;
		const struct tp_cache_entry entry = {
		    .address = symbol->address,
		    .line = symbol->line,
		    .name = add_text(strings, symbol->name),
		    .linkage = add_text(strings, plain ? symbol->name : symbol->linkage),
		    .file = add_text(strings, symbol->file),
		};
		tp_buf_add(out, &entry, sizeof(entry));
	}
	tp_buf_add(out, text->data, text->size);
	const bool ok = !out->failed && !text->failed && out->size <= TP_SYMBOL_CACHE_MAX / 2;
	if (ok) {
		const size_t behind = offsetof(struct header, build_id_size);
		header.strings_size = text->size;
		memcpy(out->data, &header, sizeof(header));
		header.checksum = tp_checksum(out->data + behind, out->size - behind);
		memcpy(out->data, &header, sizeof(header));
	}
	tp_buf_release(text);
	free(strings);
	return ok;
}

// Make the folder and those above it, as far as they are missing.
static bool make_folder(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		const bool failed = mkdir(path, 0700) && errno != EEXIST;
		*slash = '/';
		if (failed)
			return false;
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

// Remove what was not used for the longest time, until SIZE more bytes have room.
static void make_room(const char *path, uint64_t size)
{
	for (int i = 0; i < 1000; i++) {
		uint64_t all = 0;
		struct timespec oldest_time = {0};
		char oldest[256] = "";
		DIR *dir = opendir(path);
		if (!dir)
			return;
		for (struct dirent *entry; (entry = readdir(dir));) {
			struct stat info;
			const char *suffix = strstr(entry->d_name, SUFFIX);
			if (!suffix ||
			    fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) ||
			    !S_ISREG(info.st_mode))
				continue;
			all += (uint64_t)info.st_size;
			if (oldest[0] && (info.st_mtim.tv_sec > oldest_time.tv_sec ||
					     (info.st_mtim.tv_sec == oldest_time.tv_sec &&
						 info.st_mtim.tv_nsec >= oldest_time.tv_nsec)))
				continue;
			oldest_time = info.st_mtim;
			snprintf(oldest, sizeof(oldest), "%s", entry->d_name);
		}
		const bool full = all + size > TP_SYMBOL_CACHE_MAX && oldest[0];
		const bool stuck = full && unlinkat(dirfd(dir), oldest, 0) != 0;
		closedir(dir);
		if (!full || stuck)
			return;
	}
}

void tp_symbol_cache_write(const struct tp_module_symbol *symbols, uint32_t count,
    const uint8_t *build_id, uint32_t build_id_size)
{
	char dir[PATH_SIZE];
	char path[PATH_SIZE];
	char temporary[PATH_SIZE + 8];
	struct tp_buf out;
	if (!file_path(path, build_id, build_id_size) || !folder(dir))
		return;
	tp_buf_init(&out);
	if (!build(&out, symbols, count, build_id, build_id_size) || !make_folder(dir))
		goto out;
	make_room(dir, out.size);
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	const int fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		goto out;
	const bool written = tp_write_all(fd, out.data, out.size);
	if ((close(fd) != 0) | !written || rename(temporary, path))
		unlink(temporary);
out:
	tp_buf_release(&out);
}
