// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime that a link gets: the usual one, or that of a port.
#define _GNU_SOURCE
#include "link.h"

#include <stdio.h>
#include <unistd.h>

#include "recorder/tee.h"

bool tp_driver_port_find(const char *name, struct tp_driver_port *port)
{
	const struct tp_tee *tee = name && *name ? tp_tee_find(name) : tp_tees();
	if (!tee)
		return false;
	*port = (struct tp_driver_port){
	    .name = tee->runtime == TP_TEE_RUNTIME_POSIX ? NULL : tee->name,
	    .is_posix = tee->runtime <= TP_TEE_RUNTIME_STREAM,
	    .has_one_thread = tee->runtime == TP_TEE_RUNTIME_ONE_THREAD,
	};
	return true;
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
