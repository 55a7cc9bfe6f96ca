// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tail calls stay jumps: by default those in circles of functions that call one another so,
// such as the states of a machine. As calls they would need a stack without end.
#include "tail_calls.h"

#include <stdlib.h>
#include <string.h>

#include "function.h"
#include "llvm_compat.h"

#define MARK "teeperf-jump"

bool tp_tail_call_is_kept(LLVMValueRef call)
{
	return tp_llvm_call_has(call, MARK);
}

// Whether code generation jumps over it.
static bool makes_no_code(LLVMValueRef instruction)
{
	static const char *const names[] = {"llvm.lifetime.end", "llvm.assume", "llvm.pseudoprobe",
	    "llvm.experimental.noalias.scope.decl"};
	if (LLVMIsABitCastInst(instruction) || LLVMIsADbgInfoIntrinsic(instruction))
		return true;
	if (!LLVMIsAIntrinsicInst(instruction))
		return false;
	const char *name = tp_function_name(LLVMGetCalledValue(instruction), NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

LLVMValueRef tp_tail_call_before(LLVMValueRef end)
{
	LLVMValueRef at = LLVMGetPreviousInstruction(end);
	while (at && makes_no_code(at))
		at = LLVMGetPreviousInstruction(at);
	return at && LLVMIsACallInst(at) && !LLVMIsAIntrinsicInst(at) ? at : NULL;
}

// The return of a block that does nothing else, NULL if it does.
static LLVMValueRef only_return(LLVMBasicBlockRef block)
{
	LLVMValueRef at = LLVMGetFirstInstruction(block);
	while (at && (LLVMIsAPHINode(at) || (makes_no_code(at) && !LLVMIsABitCastInst(at))))
		at = LLVMGetNextInstruction(at);
	return at && LLVMIsAReturnInst(at) ? at : NULL;
}

// Where the block jumps to, if that is certain and does nothing but return.
static LLVMBasicBlockRef common_return(LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
	if (!end || LLVMGetInstructionOpcode(end) != LLVMBr || LLVMGetNumSuccessors(end) != 1)
		return NULL;
	LLVMBasicBlockRef next = LLVMGetSuccessor(end, 0);
	return next != block && only_return(next) ? next : NULL;
}

// The value with which the return leaves, coming from `block`.
static LLVMValueRef returned(LLVMValueRef ret, LLVMBasicBlockRef block)
{
	LLVMValueRef value = LLVMGetNumOperands(ret) ? LLVMGetOperand(ret, 0) : NULL;
	if (value && LLVMIsAPHINode(value) &&
	    LLVMGetInstructionParent(value) == LLVMGetInstructionParent(ret) &&
	    LLVMGetInstructionParent(ret) != block)
		for (unsigned i = 0; i < LLVMCountIncoming(value); i++)
			if (LLVMGetIncomingBlock(value, i) == block)
				return LLVMGetIncomingValue(value, i);
	return value;
}

// The call that code generation makes a jump, where the block ends with one; NULL: none.
static LLVMValueRef tail_call_of(LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
	LLVMBasicBlockRef common = common_return(block);
	LLVMValueRef ret = common ? only_return(common) : end;
	if (!ret || !LLVMIsAReturnInst(ret))
		return NULL;
	LLVMValueRef call = tp_tail_call_before(end);
	LLVMValueRef value = returned(ret, block);
	if (value && LLVMIsABitCastInst(value))
		value = LLVMGetOperand(value, 0);
	return call && tp_llvm_is_tail(call) && (!value || value == call) ? call : NULL;
}

// A tail call from one function of the module to another, by their numbers.
struct edge {
	unsigned from, to;
	LLVMValueRef call;
};

struct graph {
	LLVMValueRef *functions; /* with bodies, in the order of their addresses */
	unsigned count;
	struct edge *edges; /* in the order of `from` */
	unsigned edge_count, edge_room;
	unsigned *first; /* edge of each function, and behind the last */
};

static int compare(const void *a, const void *b)
{
	const uintptr_t x = (uintptr_t) * (const LLVMValueRef *)a;
	const uintptr_t y = (uintptr_t) * (const LLVMValueRef *)b;
	return (x > y) - (x < y);
}

static bool add_edge(struct graph *graph, unsigned from, LLVMValueRef call)
{
	LLVMValueRef callee = tp_function_of(LLVMGetCalledValue(call));
	const LLVMValueRef *found =
	    callee ? bsearch(&callee, graph->functions, graph->count, sizeof(callee), compare)
		   : NULL;
	if (!found)
		return true;
	if (graph->edge_count == graph->edge_room) {
		graph->edge_room = 2 * graph->edge_room + 64;
		struct edge *more = realloc(graph->edges, graph->edge_room * sizeof(*graph->edges));
		if (!more)
			return false;
		graph->edges = more;
	}
	graph->edges[graph->edge_count++] =
	    (struct edge){from, (unsigned)(found - graph->functions), call};
	return true;
}

static bool jumps(LLVMValueRef function)
{
	unsigned length;
	const char *off = tp_function_text(function, "disable-tail-calls", &length);
	return !off || length != strlen("true");
}

static bool fill(struct graph *graph, LLVMModuleRef module)
{
	unsigned room = 1;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		room++;
	graph->functions = calloc(room, sizeof(LLVMValueRef));
	graph->first = calloc(room, sizeof(*graph->first));
	if (!graph->functions || !graph->first)
		return false;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f))
			graph->functions[graph->count++] = f;
	qsort(graph->functions, graph->count, sizeof(LLVMValueRef), compare);
	for (unsigned i = 0; i < graph->count; i++) {
		graph->first[i] = graph->edge_count;
		if (!jumps(graph->functions[i]))
			continue;
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(graph->functions[i]); b;
		     b = LLVMGetNextBasicBlock(b)) {
			LLVMValueRef call = tail_call_of(b);
			if (call && !add_edge(graph, i, call))
				return false;
		}
	}
	graph->first[graph->count] = graph->edge_count;
	return true;
}

// Of one function, while circles are looked for.
struct visit {
	unsigned order, low; /* from 1; 0: not seen */
	unsigned edge;       /* the next one to follow */
	unsigned circle;     /* from 1; 0: not known */
};

/*
 * Tarjan's strongly connected components, without recursion: of a linked program there may be many.
 * `path` has the functions from the first to the one that is looked at, `open` those whose circle
 * is not known.
 */
static void find_circles(
    const struct graph *graph, struct visit *visits, unsigned *path, unsigned *open)
{
	unsigned order = 0;
	unsigned circles = 0;
	unsigned open_count = 0;
	for (unsigned start = 0; start < graph->count; start++) {
		unsigned depth = 0;
		if (!visits[start].order)
			path[depth++] = start;
		while (depth) {
			const unsigned at = path[depth - 1];
			struct visit *visit = &visits[at];
			if (!visit->order) {
				visit->order = visit->low = ++order;
				visit->edge = graph->first[at];
				open[open_count++] = at;
			}
			if (visit->edge < graph->first[at + 1]) {
				const struct visit *to = &visits[graph->edges[visit->edge].to];
				if (!to->order) {
					path[depth++] = graph->edges[visit->edge].to;
					continue; // and comes back to this edge
				}
				if (!to->circle && to->low < visit->low)
					visit->low = to->low;
				visit->edge++;
				continue;
			}
			depth--;
			if (visit->low != visit->order)
				continue;
			circles++;
			do
				visits[open[--open_count]].circle = circles;
			while (open[open_count] != at);
		}
	}
}

static void mark(LLVMModuleRef module, LLVMValueRef call)
{
	LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
	    LLVMCreateStringAttribute(
		LLVMGetModuleContext(module), MARK, (unsigned)strlen(MARK), "", 0));
}

static bool mark_circles(LLVMModuleRef module)
{
	struct graph graph = {.count = 0};
	bool ok = fill(&graph, module);
	const size_t count = graph.count + 1;
	struct visit *visits = calloc(count, sizeof(*visits));
	unsigned *path = calloc(2 * count, sizeof(*path));
	ok = ok && visits && path;
	if (ok)
		find_circles(&graph, visits, path, path + count);
	for (unsigned i = 0; ok && i < graph.edge_count; i++) {
		const struct edge *edge = &graph.edges[i];
		if (visits[edge->from].circle == visits[edge->to].circle)
			mark(module, edge->call);
	}
	free(graph.functions);
	free(graph.first);
	free(graph.edges);
	free(visits);
	free(path);
	return ok;
}

bool tp_tail_calls_mark(const struct tp_pass *pass, LLVMModuleRef module)
{
	if (pass->tail_calls == TP_TAIL_CALLS_CALL)
		return true;
	if (pass->tail_calls == TP_TAIL_CALLS_AUTO)
		return mark_circles(module);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b && jumps(f);
		     b = LLVMGetNextBasicBlock(b)) {
			LLVMValueRef call = tail_call_of(b);
			if (call)
				mark(module, call);
		}
	return true;
}

// A block of another function's return may have become one that others jump to.
static bool split_one(LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMBasicBlockRef common = common_return(b);
		LLVMValueRef call = common ? tail_call_of(b) : NULL;
		if (call && tp_tail_call_is_kept(call)) {
			tp_llvm_return_here(b, common);
			return true;
		}
	}
	return false;
}

void tp_tail_calls_split(LLVMValueRef function)
{
	while (split_one(function))
		continue;
}
