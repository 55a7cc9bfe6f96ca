// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes LLVM XRay's flight data recorder log a whole run: its environment options only choose the
// handler; buffers are made, and written at the end, by these calls. Linked into the XRay builds.
#include <stdio.h>
#include <stdlib.h>

// From the documented interface (xray/xray_log_interface.h); not every package ships the header.
int __xray_log_select_mode(const char *mode);
int __xray_log_init_mode(const char *mode, const char *config);
int __xray_log_finalize(void);
int __xray_log_flushLog(void);
int __xray_patch(void);

enum { LOG_INITIALIZED = 2, PATCHED = 1 };

__attribute__((constructor, xray_never_instrument)) static void start(void)
{
	// All calls, however short, in buffers of 1 MiB.
	const char *buffers = getenv("BENCH_XRAY_BUFFERS");
	char config[128];
	snprintf(config, sizeof(config),
	    "func_duration_threshold_us=0:buffer_size=1048576:buffer_max=%s",
	    buffers ? buffers : "1500");
	__xray_log_select_mode("xray-fdr");
	if (__xray_log_init_mode("xray-fdr", config) != LOG_INITIALIZED ||
	    __xray_patch() != PATCHED) {
		fputs("xray_fdr: XRay cannot start\n", stderr);
		exit(1);
	}
}

__attribute__((destructor, xray_never_instrument)) static void finish(void)
{
	__xray_log_finalize();
	__xray_log_flushLog();
}
