// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the threads of a timeline share its height.

const LANE_THIN = 5; // without a label
const CLOSED_ROWS = 6; // of a thread among many, until it is opened
const LEAST_ROWS = 3; // of a thread if there are too many threads to fit

/*
 * Choose the number of rows and the height of lanes so that all threads are in sight: {rows, lane}.
 * `threads` have `rows` and `lanes`, the numbers of each. Lanes become thin before threads have
 * fewer than three rows. Where nothing fits, threads are short nevertheless.
 */
function fitTracks(threads, height, {row, lane, thin, gap, top}) {
	const most = threads.reduce((all, thread) => Math.max(all, thread.rows), 1);
	const needs = (rows, high) => threads.reduce((sum, thread) =>
		sum + Math.min(rows, thread.rows) * row +
		(thread.lanes && thread.lanes * high + top) + gap, 0);
	const fits = (from, least, high) => {
		for (let rows = from; rows >= least; rows--)
			if (needs(rows, high) <= height)
				return {rows, lane: high};
		return null;
	};
	const wide = Math.min(most, CLOSED_ROWS);
	return (needs(most, lane) <= height && {rows: most, lane}) ||
		fits(most, Math.min(most, LEAST_ROWS), lane) ||
		fits(most, 1, thin) || (threads.length > 4 ? {rows: Math.min(most, LEAST_ROWS),
			lane: thin} : {rows: wide, lane});
}
