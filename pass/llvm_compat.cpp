// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What LLVM-C lacks in some supported major: one short function for each gap.
#include "llvm_compat.h"

#include <cstring>

#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

bool tp_llvm_is_musttail(LLVMValueRef call)
{
	const auto *instruction = dyn_cast<CallInst>(unwrap(call));
	return instruction && instruction->isMustTailCall();
}

bool tp_llvm_is_tail(LLVMValueRef call)
{
	const auto *instruction = dyn_cast<CallInst>(unwrap(call));
	return instruction && instruction->isTailCall() && !instruction->isMustTailCall();
}

bool tp_llvm_function_has(LLVMValueRef function, const char *name)
{
	const auto *f = unwrap<Function>(function);
	const Attribute::AttrKind kind = Attribute::getAttrKindFromName(name);
	return kind == Attribute::None ? f->hasFnAttribute(name) : f->hasFnAttribute(kind);
}

bool tp_llvm_call_has(LLVMValueRef call, const char *name)
{
	const auto *base = dyn_cast<CallBase>(unwrap(call));
	const Attribute::AttrKind kind = Attribute::getAttrKindFromName(name);
	return base && (kind == Attribute::None ? base->hasFnAttr(name) : base->hasFnAttr(kind));
}

void tp_llvm_error(LLVMModuleRef module, const char *message)
{
	unwrap(module)->getContext().emitError(message);
}

namespace
{

// A warning, which clang shows under -Wbackend-plugin.
class Warning : public DiagnosticInfo
{
	const char *message;

      public:
	explicit Warning(const char *text)
	    : DiagnosticInfo(getNextAvailablePluginDiagnosticKind(), DS_Warning), message(text)
	{
	}
	void print(DiagnosticPrinter &printer) const override
	{
		printer << message;
	}
};

} // namespace

void tp_llvm_warn(LLVMModuleRef module, const char *message)
{
	unwrap(module)->getContext().diagnose(Warning(message));
}

void tp_llvm_strip_memory(LLVMValueRef function_or_call)
{
	static const char *const names[] = {"memory", "readnone", "readonly", "writeonly",
	    "argmemonly", "inaccessiblememonly", "inaccessiblemem_or_argmemonly", "speculatable",
	    "nosync"};
	auto *value = unwrap(function_or_call);
	for (const char *name : names) {
		const Attribute::AttrKind kind = Attribute::getAttrKindFromName(name);
		if (kind == Attribute::None)
			continue;
		if (auto *function = dyn_cast<Function>(value))
			function->removeFnAttr(kind);
		else if (auto *call = dyn_cast<CallBase>(value))
			call->removeFnAttr(kind);
	}
}

void tp_llvm_keep(LLVMModuleRef module, LLVMValueRef global)
{
	appendToCompilerUsed(*unwrap(module), {unwrap<GlobalValue>(global)});
}

void tp_llvm_add_constructor(LLVMModuleRef module, LLVMValueRef function, int priority)
{
	auto *f = unwrap<Function>(function);
	appendToGlobalCtors(*unwrap(module), f, priority, f->hasComdat() ? f : nullptr);
}

void tp_llvm_add_destructor(LLVMModuleRef module, LLVMValueRef function, int priority)
{
	auto *f = unwrap<Function>(function);
	appendToGlobalDtors(*unwrap(module), f, priority, f->hasComdat() ? f : nullptr);
}

LLVMMetadataRef tp_llvm_function_location(LLVMValueRef function)
{
	auto *f = unwrap<Function>(function);
	DISubprogram *scope = f->getSubprogram();
	return scope ? wrap(DILocation::get(f->getContext(), 0, 0, scope)) : nullptr;
}

char *tp_llvm_function_source(LLVMValueRef function)
{
	const DISubprogram *scope = unwrap<Function>(function)->getSubprogram();
	return strdup(scope ? scope->getFilename().str().c_str() : "");
}

bool tp_llvm_is_static_alloca(LLVMValueRef alloca_instruction)
{
	const auto *instruction = dyn_cast<AllocaInst>(unwrap(alloca_instruction));
	return instruction && instruction->isStaticAlloca();
}
