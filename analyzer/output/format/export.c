// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of exports, and how each is made.
#include "export.h"

#include "analyzer/output/format/slices.h"

#define TP_EXPORT(export) extern const struct tp_export export;
#include "exports.inc"
#undef TP_EXPORT

static const struct tp_export *const exports[] = {
#define TP_EXPORT(export) &export,
#include "exports.inc"
#undef TP_EXPORT
    NULL,
};

const struct tp_export *const *tp_exports(void)
{
	return exports;
}

bool tp_export_is_directory(const struct tp_export *export)
{
	return export->slices ? export->slices->directory : export->render_directory != NULL;
}

int tp_export_render(const struct tp_export *export, const struct tp_analysis *analysis,
    const struct tp_export_options *options, struct tp_buf *out, struct tp_err *err)
{
	return export->slices ? tp_slices_render(export->slices, analysis, options, out, err)
			      : export->render(analysis, options, out, err);
}

int tp_export_render_directory(const struct tp_export *export, const struct tp_analysis *analysis,
    const struct tp_export_options *options, const char *directory, struct tp_err *err)
{
	return export->slices
		   ? tp_slices_render_directory(export->slices, analysis, options, directory, err)
		   : export->render_directory(analysis, options, directory, err);
}
