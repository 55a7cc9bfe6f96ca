// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compute again only when something that key() names has changed.
function remember(key, compute) {
	let last, value;
	return () => {
		const now = String(key());
		if (now !== last) {
			last = now;
			value = compute();
		}
		return value;
	};
}
