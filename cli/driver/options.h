/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The driver's own options, from the rows of cc_options.def: they go to the pass in the environment. */
#ifndef TP_DRIVER_OPTIONS_H
#define TP_DRIVER_OPTIONS_H

#include "link.h"

/* What the driver itself is told by them. */
struct tp_driver_settings {
	uint32_t major; /* of LLVM */
	struct tp_driver_port port;
	bool is_off; /* level off: nothing of ours but the runtime, for objects that ask for it */
	bool checks; /* the link's allowlist */
};

/*
 * Take our options out of argv, which has no command name, and put what holds of all of them into the environment.
 * 0 or an exit code.
 */
int tp_driver_options_take(int *argc, char **argv, struct tp_driver_settings *settings);

/* Take what they say out of the environment. */
void tp_driver_options_forget(void);

#endif
