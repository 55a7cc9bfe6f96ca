# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
#
# The programs that lists are made for. program_choose NAME sets: program_bench, the definition of
# how it is built; program_build, the name that it has there; program_binary, the file's name;
# program_arguments; program_folder, where it runs.
program_names='string_match string_match_calls kmeans word_count sqlite lua cppcheck'
[ "$size" != mini ] || program_names='string_match'

# program_size FULL QUICK MINI
program_size() {
	case $size in
	full) echo "$1" ;;
	quick) echo "$2" ;;
	mini) echo "$3" ;;
	esac
}

program_choose() {
	program_folder=$work
	program_binary=$1
	case $1 in
	string_match* | kmeans | word_count)
		program_bench=$here/phoenix/phoenix.bench
		program_build=phoenix-$1
		program_arguments="--threads 1 --size $(case $1 in
			string_match) program_size 30000000 10000000 20000 ;;
			string_match_calls) program_size 24000000 8000000 20000 ;;
			kmeans) program_size 700000 250000 2000 ;;
			word_count) program_size 24000000 8000000 20000 ;;
			esac)"
		;;
	sqlite)
		program_bench=$here/sqlite/sqlite.bench
		program_build=sqlite
		program_arguments=$(program_size 700000 250000 500)
		;;
	lua)
		program_bench=$here/lua/lua.bench
		program_build=lua
		program_arguments="$here/lua/lua_work.lua $(program_size 300 200 1)"
		;;
	cppcheck)
		program_bench=$folder/cppcheck.sh
		program_build=cppcheck
		program_folder=$work/sources/cppcheck
		program_arguments="--quiet $(program_size lib/mathlib.cpp \
			'lib/path.cpp lib/utils.cpp' lib/utils.cpp)"
		;;
	esac
}
