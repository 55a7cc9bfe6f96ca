// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What LLVM-C lacks in some supported major: one short function for each gap.
#include "llvm_compat.h"

#include <cstring>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

bool tp_llvm_is_musttail(LLVMValueRef call)
{
	const auto *instruction = dyn_cast<CallInst>(unwrap(call));
	return instruction && instruction->isMustTailCall();
}

void tp_llvm_throws_nothing(LLVMValueRef call)
{
	unwrap<CallBase>(call)->setDoesNotThrow();
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

namespace
{

// Clang puts the place first, and shows the line. Others, such as linkers, say what print() says.
class PlacedDiagnostic : public DiagnosticInfoSrcMgr
{
	const SMDiagnostic &diagnostic;

      public:
	explicit PlacedDiagnostic(const SMDiagnostic &at)
	    : DiagnosticInfoSrcMgr(at, "", false), diagnostic(at)
	{
	}
	void print(DiagnosticPrinter &printer) const override
	{
		printer << diagnostic.getFilename() << ":" << diagnostic.getLineNo() << ":"
			<< diagnostic.getColumnNo() + 1 << ": " << diagnostic.getMessage();
	}
};

} // namespace

// The diagnostic wants a buffer with the line at its place, of which the rest does not matter.
void tp_llvm_report_at(
    LLVMModuleRef module, const struct tp_llvm_place *place, bool is_error, const char *message)
{
	std::string text(place->line ? place->line - 1 : 0, '\n');
	const size_t column = place->column ? place->column - 1 : 0;
	if (column > place->before)
		text.append(column - place->before, ' ');
	text += place->text;
	SourceMgr manager;
	const unsigned id =
	    manager.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, place->file), SMLoc());
	const MemoryBuffer *buffer = manager.getMemoryBuffer(id);
	const size_t offset =
	    std::min<size_t>((place->line ? place->line - 1 : 0) + column, buffer->getBufferSize());
	const SMDiagnostic diagnostic =
	    manager.GetMessage(SMLoc::getFromPointer(buffer->getBufferStart() + offset),
		is_error ? SourceMgr::DK_Error : SourceMgr::DK_Warning, message);
	unwrap(module)->getContext().diagnose(PlacedDiagnostic(diagnostic));
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

void tp_llvm_delete_kept(LLVMModuleRef module, LLVMValueRef *variables, unsigned count)
{
	SmallVector<GlobalValue *, 8> kept;
	SmallPtrSet<GlobalValue *, 8> deleted;
	for (unsigned i = 0; i < count; i++)
		deleted.insert(unwrap<GlobalValue>(variables[i]));
	GlobalVariable *list = collectUsedGlobalVariables(*unwrap(module), kept, true);
	if (list)
		list->eraseFromParent();
	erase_if(kept, [&](GlobalValue *value) { return deleted.count(value) != 0; });
	if (!kept.empty())
		appendToCompilerUsed(*unwrap(module), kept);
	for (GlobalValue *value : deleted) {
		value->removeDeadConstantUsers();
		value->eraseFromParent();
	}
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

uint64_t tp_llvm_count_instructions(LLVMValueRef function)
{
	uint64_t count = 0;
	for (const BasicBlock &block : *unwrap<Function>(function))
		for (const Instruction &instruction : block)
			count += !instruction.isDebugOrPseudoInst();
	return count;
}

// Loops of which the number of rounds is a constant.
static uint64_t count_constant_trips(Function &function, DominatorTree &dominators, LoopInfo &loops)
{
	const TargetLibraryInfoImpl library(Triple(function.getParent()->getTargetTriple()));
	TargetLibraryInfo functions(library, &function);
	AssumptionCache assumptions(function);
	ScalarEvolution evolution(function, functions, assumptions, dominators, loops);
	uint64_t count = 0;
	for (const Loop *loop : loops.getLoopsInPreorder())
		count += evolution.getSmallConstantTripCount(loop) != 0;
	return count;
}

void tp_llvm_function_facts(LLVMValueRef value, struct tp_llvm_facts *facts,
    void (*called)(void *context, LLVMValueRef callee, double frequency), void *context)
{
	auto &function = *unwrap<Function>(value);
	*facts = {};
	facts->instructions = tp_llvm_count_instructions(value);
	facts->blocks = function.size();
	SmallVector<std::pair<const BasicBlock *, Function *>, 16> sites;
	for (const BasicBlock &block : function) {
		for (const Instruction &instruction : block) {
			const auto *call = dyn_cast<CallBase>(&instruction);
			if (!call || isa<IntrinsicInst>(call) || call->isInlineAsm())
				continue;
			facts->calls++;
			auto *callee = dyn_cast<Function>(
			    call->getCalledOperand()->stripPointerCastsAndAliases());
			if (callee)
				sites.push_back({&block, callee});
			else
				facts->indirect_calls++;
		}
	}
	if (function.size() == 1) {
		for (const auto &site : sites)
			if (called)
				called(context, wrap(site.second), 1);
		return;
	}
	DominatorTree dominators(function);
	LoopInfo loops(dominators);
	for (const Loop *loop : loops.getLoopsInPreorder()) {
		facts->loops++;
		facts->depth = std::max<uint64_t>(facts->depth, loop->getLoopDepth());
	}
	if (facts->loops)
		facts->constant_trips = count_constant_trips(function, dominators, loops);
	if (!called || sites.empty())
		return;
	const BranchProbabilityInfo branches(function, loops);
	const BlockFrequencyInfo frequencies(function, branches, loops);
	const double entry =
	    (double)frequencies.getBlockFreq(&function.getEntryBlock()).getFrequency();
	for (const auto &site : sites)
		called(context, wrap(site.second),
		    (double)frequencies.getBlockFreq(site.first).getFrequency() /
			(entry > 0 ? entry : 1));
}

void tp_llvm_inlined_functions(LLVMValueRef function,
    void (*found)(void *context, const char *name, size_t length, const char *file,
	size_t file_length, uint32_t line),
    void *context)
{
	// Each copy has an inlinedAt location of its own, and all its instructions share it.
	SmallPtrSet<const DILocation *, 32> known;
	const DILocation *last = nullptr;
	const auto look = [&](const DILocation *location) {
		if (!location || location->getInlinedAt() == last)
			return;
		last = location->getInlinedAt();
		for (const DILocation *at; (at = location->getInlinedAt()); location = at) {
			if (!known.insert(at).second)
				break;
			const DISubprogram *scope = location->getScope()->getSubprogram();
			StringRef name = scope->getLinkageName();
			if (name.empty())
				name = scope->getName();
			const StringRef file = scope->getFilename();
			found(context, name.data(), name.size(), file.data(), file.size(),
			    scope->getLine());
		}
	};
	for (const BasicBlock &block : *unwrap<Function>(function)) {
		for (const Instruction &instruction : block) {
			look(instruction.getDebugLoc().get());
#if LLVM_VERSION_MAJOR >= 19
			// Of some copies only what describes their variables is left.
			for (const DbgRecord &record : instruction.getDbgRecordRange())
				look(record.getDebugLoc().get());
#endif
		}
	}
}

const char *tp_llvm_bytes(LLVMValueRef variable, size_t *size)
{
	const auto *global = dyn_cast<GlobalVariable>(unwrap(variable));
	if (!global || !global->hasInitializer())
		return nullptr;
	const auto *data = dyn_cast<ConstantDataSequential>(global->getInitializer());
	if (!data || !data->isString())
		return nullptr;
	const StringRef bytes = data->getAsString();
	*size = bytes.size();
	return bytes.data();
}

void tp_llvm_return_here(LLVMBasicBlockRef block, LLVMBasicBlockRef common)
{
	BasicBlock *end = unwrap(common);
	FoldReturnIntoUncondBranch(cast<ReturnInst>(end->getTerminator()), end, unwrap(block));
	if (pred_empty(end) && !end->hasAddressTaken() && !end->isEntryBlock())
		DeleteDeadBlock(end);
}

bool tp_llvm_block_is_taken(LLVMBasicBlockRef block)
{
	return unwrap(block)->hasAddressTaken();
}

const char *tp_llvm_assembly(LLVMValueRef instruction, size_t *size)
{
	const auto *call = dyn_cast<CallBase>(unwrap(instruction));
	const auto *code = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
	if (!code)
		return nullptr;
	const StringRef text = code->getAsmString();
	*size = text.size();
	return text.data();
}

LLVMValueRef tp_llvm_clone(LLVMValueRef function, const char *name, const char *section)
{
	auto *from = unwrap<Function>(function);
	ValueToValueMapTy map;
	Function *to = CloneFunction(from, map);
	to->setName(name);
	to->setLinkage(GlobalValue::InternalLinkage);
	to->setVisibility(GlobalValue::DefaultVisibility);
	to->setDLLStorageClass(GlobalValue::DefaultStorageClass);
	to->setDSOLocal(true);
	to->setComdat(from->getComdat());
	to->setSection(section);
	to->removeFnAttr(Attribute::AlwaysInline);
	to->removeFnAttr(Attribute::InlineHint);
	to->addFnAttr(Attribute::NoInline);
	return wrap(to);
}

void tp_llvm_lead_to(LLVMValueRef from, LLVMValueRef to, LLVMValueRef gate)
{
	auto &function = *unwrap<Function>(from);
	auto *other = unwrap<Function>(to);
	LLVMContext &context = function.getContext();
	BasicBlock &body = function.getEntryBlock();
	auto *entry = BasicBlock::Create(context, "", &function, &body);
	auto *away = BasicBlock::Create(context, "", &function);
	IRBuilder<> builder(entry);
	if (DISubprogram *scope = function.getSubprogram())
		builder.SetCurrentDebugLocation(DILocation::get(context, 0, 0, scope));
	// Volatile: the gate moves while the program runs, and nobody here is seen to move it.
	LoadInst *value = builder.CreateLoad(builder.getInt8Ty(), unwrap(gate), true);
	builder.CreateCondBr(builder.CreateICmpNE(value, builder.getInt8(0)), away, &body,
	    MDBuilder(context).createBranchWeights(1, 100000));
	// An allocation of fixed size is one only in the first block.
	SmallVector<AllocaInst *, 16> allocations;
	for (Instruction &instruction : body)
		if (auto *allocation = dyn_cast<AllocaInst>(&instruction))
			if (isa<ConstantInt>(allocation->getArraySize()))
				allocations.push_back(allocation);
	for (AllocaInst *allocation : allocations)
		allocation->moveBefore(*entry, value->getIterator());

	builder.SetInsertPoint(away);
	SmallVector<Value *, 8> arguments;
	SmallVector<AttributeSet, 8> attributes;
	const AttributeList all = function.getAttributes();
	for (Argument &argument : function.args()) {
		arguments.push_back(&argument);
		attributes.push_back(all.getParamAttrs(argument.getArgNo()));
	}
	CallInst *call = builder.CreateCall(other, arguments);
	call->setCallingConv(function.getCallingConv());
	call->setAttributes(
	    AttributeList::get(context, AttributeSet(), all.getRetAttrs(), attributes));
	call->setTailCallKind(CallInst::TCK_MustTail);
	if (call->getType()->isVoidTy())
		builder.CreateRetVoid();
	else
		builder.CreateRet(call);
}

bool tp_llvm_has_bytes_before(LLVMValueRef function)
{
	const Function *given = unwrap<Function>(function);
#if LLVM_VERSION_MAJOR >= 15 && LLVM_VERSION_MAJOR < 17
	// What -fsanitize=function looks for at a function's address, and behind our bytes would
	// not find.
	if (given->hasMetadata("func_sanitize"))
		return true;
#endif
	return given->hasPrologueData();
}

void tp_llvm_set_bytes_before(LLVMValueRef function, LLVMValueRef bytes)
{
	unwrap<Function>(function)->setPrologueData(unwrap<Constant>(bytes));
}
