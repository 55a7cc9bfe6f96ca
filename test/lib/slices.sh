# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For tests of exports that have single calls: traces, and what they hold, which slices.py compares.
# After e2e.sh.

# Into ./traces: NAME.trace and NAME.csv, of texts and of a program with threads and exceptions. All
# have one tick a nanosecond, so that sums are exact; only clock.trace has the clock that it was
# recorded with.
slices_traces() {
	mkdir -p traces
	for name in recursion two-threads contexts resync cxx switches lost unmatched untimed \
		open; do
		expect 0 "$TEEPERF" dump --assemble "$root/test/golden/$name/trace.txt" \
			-o "traces/$name.trace"
	done
	cat >hostile.txt <<'EOS'
clock kind=tsc hz=1000000000
command
	string "/"
	string "</script>\" pro;gram"
symbols
	symbol 0x401000 "main\\" file="a \"b\" \\n {.c" line=3
	symbol 0x401010 "operator\"\" _x(char const*, unsigned long)"
	symbol 0x401020 "</title><script>x</script>"
	symbol 0x401030 "(blank) { } ;= // /* 100% \x01\xff\xfe ü"
	symbol 0x401040 one file="one.c" line=1
	symbol 0x401050 two file="two.c" line=2
threads
	thread tid=7 name="\"t\\1\""
	thread tid=7 name="</x>"
	thread tid=0 name=""
	thread tid=99999999999 name="big"
chunk
	0 enter 0x401000
	0 enter 0x401010
	10 enter 0x401020
	10 exit 0x401020
	30 exit 0x401010
	30 enter 0x401030
	lost 3
	45 exit 0x401030
	50 exit 0x401000
chunk thread=1
	20 enter 0x401040
	21 enter 0x401050
	24 exit 0x401050
	27 exit 0x401040
chunk thread=2
	21 enter 0x401050
	23 enter 0x401040
	24 exit 0x401040
	34 exit 0x401050
chunk thread=3
	21 enter 0x501050
	23 exit 0x501050
end
EOS
	expect 0 "$TEEPERF" dump --assemble hostile.txt -o traces/hostile.trace
	slices_program
	"$TEEPERF" dump traces/clock.trace >clock.txt
	sed -e 's/^clock kind=.*/clock kind=tsc hz=1000000000/' \
		-e '/^\tpoint /d' clock.txt >program.txt
	expect 0 "$TEEPERF" dump --assemble program.txt -o traces/program.trace
	for trace in traces/*.trace; do
		"$TEEPERF" analyze --raw --format csv "$trace" >"${trace%.trace}.csv" 2>>notes
	done
}

slices_program() {
	cat >app.cpp <<'EOS'
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <vector>
#define KEEP __attribute__((noinline))
namespace shop {
struct Guard {
	int *count;
	KEEP ~Guard()
	{
		++*count;
	}
};
template <class T> KEEP T twice(T x)
{
	asm volatile("");
	return x + x;
}
KEEP static int dig(int n, int *count)
{
	Guard guard{count};
	if (n == 0)
		throw std::runtime_error("deep");
	return dig(n - 1, count) + 1;
}
KEEP int attempt(int n, int *count)
{
	try {
		return dig(n, count);
	} catch (std::exception &) {
		return twice(n);
	}
}
} // namespace shop
static void *work(void *argument)
{
	int count = 0;
	std::vector<std::string> words;
	for (int i = 0; i < 100; i++) {
		shop::attempt(i % 7, &count);
		words.push_back(std::to_string(shop::twice(i)));
	}
	*(int *)argument = count;
	return argument;
}
int main()
{
	pthread_t threads[3];
	int results[3];
	for (int i = 0; i < 3; i++) {
		// Who is created has its creator's name, and its name is looked at when it begins.
		pthread_setname_np(pthread_self(), ("worker " + std::to_string(i)).c_str());
		pthread_create(&threads[i], nullptr, work, &results[i]);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], nullptr);
	return 0;
}
EOS
	expect 0 "$TEEPERF" c++ -O1 -g -pthread -o app app.cpp
	expect 0 "$TEEPERF" record -o traces/clock.trace -- ./app
}

# slices_how TRACE: how slices.py compares it. A test may have its own.
slices_how() {
	case $1 in
	contexts) echo parts ;;
	clock) echo within ;;
	*) echo same ;;
	esac
}

# slices_format FORMAT: the options of export that make it with single calls.
slices_format() {
	case $1 in
	speedscope) echo --format speedscope --calls ;;
	*) echo --format "$1" ;;
	esac
}

# slices_check FORMAT: each trace, exported, holds what the analyzer says.
slices_check() {
	for trace in traces/*.trace; do
		name=$(basename "$trace" .trace)
		rm -rf "$name.$1"
		expect 0 "$TEEPERF" export $(slices_format "$1") -o "$name.$1" "$trace"
		expect 0 python3 "$lib/slices.py" "$1" "$name.$1" "traces/$name.csv" \
			"$(slices_how "$name")"
		echo "$name: $(cat out)"
	done
}
