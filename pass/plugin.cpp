// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plugin's entry point: options, and the places in LLVM's pipelines where the stages run.
#include <atomic>

#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

#include <teeperf/version.h>

extern "C" {
#include "pass.h"
#include "pass/sequence/sequence.h"
}
#include "llvm_compat.h"

using namespace llvm;

// -teeperf-NAME for each row that is for the pass.
// clang-format off
#define OPTION_OF_DRIVER(id, name, help, argument)
#define OPTION_OF_PASS(id, name, help, argument) \
	static cl::opt<std::string> id##_option("teeperf-" name, cl::desc(help), \
		cl::value_desc(argument));
#define OPTION_OF_PLUGIN OPTION_OF_PASS
#define TP_CC_OPTION(id, name, reader, value, variable, word, fallback, cc_help, more, help, \
	argument) \
	OPTION_OF_##reader(id, name, help, argument)
#include "cli/driver/cc_options.def"
#undef TP_CC_OPTION
// clang-format on

namespace
{

// Options are read once per process, and a mistake in them is reported once.
struct Options {
	tp_pass pass;
	tp_err err;
	int status;
	std::atomic<bool> reported{false}; // ThinLTO runs the pass in several threads

	Options()
	{
		const char *given[TP_PASS_OPTIONS] = {};
#define SET_OF_DRIVER(id)
#define SET_OF_PASS(id) given[TP_PASS_OPTION_##id] = id##_option.c_str();
#define SET_OF_PLUGIN SET_OF_PASS
#define TP_CC_OPTION(id, name, reader, ...) SET_OF_##reader(id)
#include "cli/driver/cc_options.def"
#undef TP_CC_OPTION
		status = tp_pass_init(&pass, given, &err);
	}

	static Options &get()
	{
		static Options options;
		return options;
	}

	bool usable(Module &module)
	{
		char text[TP_ERR_TEXT_SIZE];
		if (!reported.exchange(true)) {
			if (status && err.line)
				tell(module, err, true);
			else if (status)
				tp_llvm_error(
				    wrap(&module), tp_err_format(&err, text, sizeof(text)));
			else if (pass.allowlist)
				warn(module);
		}
		return !status;
	}

	static void tell(Module &module, const tp_err &what, bool is_error)
	{
		char text[TP_ERR_TEXT_SIZE];
		const tp_llvm_place place = {
		    what.file, what.line, what.column, what.excerpt, what.caret};
		tp_err message = what;
		message.file[0] = '\0';
		tp_llvm_report_at(
		    wrap(&module), &place, is_error, tp_err_format(&message, text, sizeof(text)));
	}

	void warn(Module &module)
	{
		for (uint32_t i = 0; i < tp_allowlist_warning_count(pass.allowlist); i++)
			tell(module, *tp_allowlist_warning(pass.allowlist, i), false);
	}
};

std::atomic<bool> tagged_in_this_process{false};
std::atomic<bool> tagged_before{false};

bool is_for_linker(Module &module)
{
	return module.getModuleFlag("ThinLTO") || module.getModuleFlag("EnableSplitLTOUnit");
}

// The compile step of LTO. Clang marks such modules before its pipeline runs; at link time these
// marks are still there, but the start-of-pipeline stage has not run in that process, or it has
// found another's tags.
bool is_before_link(Module &module, bool tagged_here)
{
	if (tagged_before)
		return false;
	// -ffat-lto-objects: the copy for the linker has been put aside already, this one is final.
	for (const GlobalVariable &global : module.globals())
		if (global.getSection() == ".llvm.lto")
			return false;
	return tagged_here && is_for_linker(module);
}

struct TagPass : PassInfoMixin<TagPass> {
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		// As where a linker is given a whole pipeline, or clang a file of bitcode.
		if (!tagged_in_this_process && tp_pass_is_tagged(wrap(&module)))
			tagged_before = true;
		tagged_in_this_process = true;
		Options &options = Options::get();
		if (!options.usable(module))
			return PreservedAnalyses::all();
		const bool before_link = is_before_link(module, true);
		bool changed = tp_pass_tag(&options.pass, wrap(&module), before_link);
		if (before_link) {
			tp_sequence_declare(wrap(&module));
			if (LLVM_VERSION_MAJOR >= 15)
				tp_pass_mark_bitcode(wrap(&module));
			changed = true;
		}
		return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
	}
	static bool isRequired()
	{
		return true;
	}
};

struct InstrumentPass : PassInfoMixin<InstrumentPass> {
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		Options &options = Options::get();
		if (!options.usable(module))
			return PreservedAnalyses::all();
		tp_pass pass = options.pass;
		// What may still go to a linker's optimiser.
		pass.inlined_later = tagged_before && is_for_linker(module);
		if (is_before_link(module, tagged_in_this_process)) {
			// The linker is to do it, with all inlining behind it; lld 14 cannot.
			if (LLVM_VERSION_MAJOR >= 15)
				return PreservedAnalyses::all();
			pass.inlined_later = true;
		}
		// Nothing tagged: the plugin was given to the linker only.
		if (!tp_pass_is_tagged(wrap(&module)))
			tp_pass_tag(&pass, wrap(&module), false);
		return tp_pass_instrument(&pass, wrap(&module)) ? PreservedAnalyses::none()
								: PreservedAnalyses::all();
	}
	static bool isRequired()
	{
		return true;
	}
};

bool parse_name(StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>)
{
	if (name == "teeperf-tag")
		manager.addPass(TagPass());
	else if (name == "teeperf-instrument")
		manager.addPass(InstrumentPass());
	else if (name == "teeperf") {
		manager.addPass(TagPass());
		manager.addPass(InstrumentPass());
	} else
		return false;
	return true;
}

void register_passes(PassBuilder &builder)
{
	builder.registerPipelineParsingCallback(parse_name);
	builder.registerPipelineStartEPCallback(
	    [](ModulePassManager &manager, auto &&...) { manager.addPass(TagPass()); });
	// From LLVM 20 on a third argument tells the LTO phase; is_before_link() serves all majors.
	builder.registerOptimizerLastEPCallback(
	    [](ModulePassManager &manager, auto &&...) { manager.addPass(InstrumentPass()); });
#if LLVM_VERSION_MAJOR >= 15
	builder.registerFullLinkTimeOptimizationLastEPCallback(
	    [](ModulePassManager &manager, auto &&...) { manager.addPass(InstrumentPass()); });
#endif
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo()
{
	return {LLVM_PLUGIN_API_VERSION, "TeePerf", TEEPERF_VERSION, register_passes};
}
