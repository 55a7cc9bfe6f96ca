// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that the tools of the SGX SDK and of Open Enclave generate, and calls of TEEC_InvokeCommand,
// are marked where they go over the border of a TEE: 9 (of TEEC_InvokeCommand: its operation) and
// 12 around a call, 10 and 11 in the called function, outside of its own records; also in functions
// that are left out. Nothing else is marked.
// RUN: %clang -O1 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s
// RUN: %clang -O0 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s --check-prefix=PLAIN
// RUN: echo 'fun:nothing' > %t.allow
// RUN: env TEEPERF_ALLOWLIST=%t.allow %clang -O2 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s --check-prefix=OUT
// RUN: %clang -O2 -flto -fpass-plugin=%plugin -c %s -o %t.o
#include <stddef.h>
#include <stdint.h>

int sgx_ecall(uint64_t enclave, int index, const void *table, void *parameters);
int sgx_ocall(unsigned index, void *parameters);
struct operation;
uint32_t TEEC_InvokeCommand(
    void *session, uint32_t command, struct operation *operation, uint32_t *origin);
int oe_call_enclave_function(void *enclave, uint64_t *id, const char *name, const void *input,
    size_t input_size, void *output, size_t output_size, size_t *written);
int oe_call_host_function(size_t id, const void *input, size_t input_size, void *output,
    size_t output_size, size_t *written);
int other(int x);

// CHECK-LABEL: define{{.*}} @enclave_ocall(
// CHECK: call void @__teeperf_border(i64 10, i64
// CHECK: call void asm
// CHECK: call {{.*}} @other(
// CHECK: call void @__teeperf_border(i64 11, i64 0)
// CHECK-NEXT: ret
// OUT-LABEL: define{{.*}} @enclave_ocall(
// OUT: call void @__teeperf_border(i64 10, i64
// OUT: call void @__teeperf_border(i64 11, i64 0)
int enclave_ocall(void *pms)
{
	return other(*(int *)pms);
}

static const struct {
	size_t count;
	void *table[1];
} ocall_table_enclave = {1, {(void *)enclave_ocall}};

// CHECK-LABEL: define{{.*}} @ecall(
// CHECK: call void @__teeperf_border(i64 9, i64 [[HANDLE:%.*]])
// CHECK-NEXT: call i32 @sgx_ecall(
// CHECK-NEXT: call void @__teeperf_border(i64 12, i64 0)
// PLAIN-LABEL: define{{.*}} @ecall(
// PLAIN: call void @__teeperf_border(i64 9, i64
// PLAIN: call i32 @sgx_ecall(
// PLAIN-NEXT: call void @__teeperf_border(i64 12, i64 0)
// OUT-LABEL: define{{.*}} @ecall(
// OUT: call void @__teeperf_border(i64 9, i64
// OUT-NEXT: call i32 @sgx_ecall(
// OUT-NEXT: call void @__teeperf_border(i64 12, i64 0)
int ecall(uint64_t enclave, int n)
{
	int ms = n;
	int status = sgx_ecall(enclave, 0, &ocall_table_enclave, &ms);
	return status ? status : ms;
}

// CHECK-LABEL: define{{.*}} @ocall(
// CHECK: call void @__teeperf_border(i64 9, i64
// CHECK-NEXT: call i32 @sgx_ocall(
// CHECK-NEXT: call void @__teeperf_border(i64 12, i64 0)
int ocall(void *ms)
{
	return sgx_ocall(0, ms);
}

// CHECK-LABEL: define{{.*}} @invoke(
// CHECK: call void @__teeperf_command({{(ptr|i8\*)}}{{( nonnull)?}} %{{[0-9a-z]+}})
// CHECK-NEXT: call i32 @TEEC_InvokeCommand(
// CHECK-NEXT: call void @__teeperf_border(i64 12, i64 0)
uint32_t invoke(void *session, struct operation *operation)
{
	uint32_t origin;
	return TEEC_InvokeCommand(session, 1, operation, &origin);
}

// CHECK-LABEL: define{{.*}} @none(
// CHECK-NOT: call void @__teeperf_border(
// CHECK: ret
int none(int x)
{
	return other(x) + 1;
}

// CHECK-LABEL: define{{.*}} @sgx_ecall_trusted(
// CHECK: call void @__teeperf_border(i64 10, i64
// CHECK: call void @__teeperf_border(i64 11, i64 0)
int sgx_ecall_trusted(void *pms)
{
	return other(*(int *)pms);
}

const struct {
	size_t count;
	struct {
		void *function;
		uint8_t is_private, is_switchless;
	} table[1];
} g_ecall_table = {1, {{(void *)(uintptr_t)sgx_ecall_trusted, 0, 0}}};

// The enclave's function gets a copy of the input, and in its first word the call's number.
// CHECK-LABEL: define{{.*}} @oe_ecall(
// CHECK: [[SHORT:%.*]] = trunc i64 {{%.*}} to i32
// CHECK: store i32 [[SHORT]], {{(ptr|i32\*)}} {{%.*}}
// CHECK: [[NUMBER:%.*]] = zext i32 [[SHORT]] to i64
// CHECK: call void @__teeperf_border(i64 9, i64 [[NUMBER]])
// CHECK-NEXT: call i32 @oe_call_enclave_function(
// CHECK-NEXT: call void @__teeperf_border(i64 12, i64 0)
int oe_ecall(void *enclave, void *input, size_t size)
{
	size_t written;
	return oe_call_enclave_function(enclave, 0, "f", input, size, input, size, &written);
}

// CHECK-LABEL: define{{.*}} @oe_ocall(
// CHECK: [[INPUT:%.*]] = ptrtoint {{(ptr|i8\*)}} %{{[0-9a-z]+}} to i64
// CHECK: call void @__teeperf_border(i64 9, i64 [[INPUT]])
// CHECK-NEXT: call i32 @oe_call_host_function(
// CHECK-NEXT: call void @__teeperf_border(i64 12, i64 0)
int oe_ocall(void *input, size_t size)
{
	size_t written;
	return oe_call_host_function(0, input, size, input, size, &written);
}

typedef void oe_function(
    uint8_t *input, size_t input_size, uint8_t *output, size_t output_size, size_t *written);

// CHECK-LABEL: define{{.*}} @oe_trusted(
// CHECK: [[WORD:%.*]] = load i32, {{(ptr|i32\*)}} {{%.*}}
// CHECK: [[FOUND:%.*]] = zext i32 [[WORD]] to i64
// CHECK: call void @__teeperf_border(i64 10, i64 [[FOUND]])
// CHECK: call void @__teeperf_border(i64 11, i64 0)
void oe_trusted(
    uint8_t *input, size_t input_size, uint8_t *output, size_t output_size, size_t *written)
{
	*written = (size_t)other((int)(input_size + output_size)) + (input == output);
}

oe_function *oe_ecalls_table[] = {oe_trusted};

// CHECK-LABEL: define{{.*}} @oe_untrusted(
// CHECK: call void @__teeperf_border(i64 10, i64 {{%.*}})
// CHECK: call void @__teeperf_border(i64 11, i64 0)
void oe_untrusted(
    uint8_t *input, size_t input_size, uint8_t *output, size_t output_size, size_t *written)
{
	*written = (size_t)other((int)(input_size + output_size)) + (input == output);
}

oe_function *_enclave_ocall_function_table[] = {oe_untrusted};
