// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime that a link gets: the usual one, or that of a port.
#define _GNU_SOURCE
#include "driver_link.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// One that stands alone is the only runtime of one image, which has no threads library. One thread: abi.h.
static const struct {
	const char *name;
	bool is_alone;
	bool has_one_thread;
} ports[] = {
    {"bare", true, false},
    {"gramine", false, false},
    {"keystone", true, false},
    {"occlum", false, false},
    {"openenclave", true, false},
    {"optee", true, true},
    {"scone", false, false},
    {"sgxsdk", true, false},
    {"vm", false, false},
};
enum { PORTS = sizeof(ports) / sizeof(ports[0]) };

void tp_driver_port_names(char *text, size_t size)
{
	int used = snprintf(text, size, "posix");
	for (int i = 0; i < PORTS && used > 0 && (size_t)used < size; i++)
		used += snprintf(text + used, size - (size_t)used, "%s%s",
		    i == PORTS - 1 ? " or " : ", ", ports[i].name);
}

bool tp_driver_port_find(const char *name, struct tp_driver_port *port)
{
	*port = (struct tp_driver_port){.is_posix = true};
	if (!name || !*name || !strcmp(name, "posix"))
		return true;
	for (int i = 0; i < PORTS; i++) {
		if (strcmp(name, ports[i].name))
			continue;
		port->name = ports[i].name;
		port->is_posix = !ports[i].is_alone;
		port->has_one_thread = ports[i].has_one_thread;
		return true;
	}
	return false;
}

int tp_driver_port_archive(const struct tp_driver_port *port, const char *runtime, bool is_foreign,
    char path[TP_DRIVER_PATH_SIZE], struct tp_err *err)
{
	// Beside libteeperf.a in a folder that is of one processor anyway.
	const char *folder = !port->name ? "" : is_foreign ? "/ports" : "/teeperf/ports";
	const int length = snprintf(path, TP_DRIVER_PATH_SIZE, "%s%s/libteeperf%s%s.a", runtime,
	    folder, port->name ? "-" : "", port->name ? port->name : "");
	if (length >= TP_DRIVER_PATH_SIZE)
		return tp_err_set(
		    err, TP_ERR_LIMIT, runtime, TP_ERR_NO_OFFSET, "the path is too long");
	if (port->name && access(path, R_OK))
		return tp_err_set(err, TP_ERR_NOT_FOUND, path, TP_ERR_NO_OFFSET,
		    "there is no runtime of port '%s' for this processor%s", port->name,
		    is_foreign ? "" : ": build and install teeperf again");
	return 0;
}
