// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an application asks of LevelDB: fill in random order, read at random, scan, overwrite,
// delete, compact. Its files are in memory (LevelDB's own memory environment). leveldb_work KEYS
// prints the results.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "helpers/memenv/memenv.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/iterator.h"
#include "leveldb/write_batch.h"

namespace
{

class Work
{
      public:
	explicit Work(uint32_t keys)
	    : keys_(keys), env_(leveldb::NewMemEnv(leveldb::Env::Default())),
	      filter_(leveldb::NewBloomFilterPolicy(10))
	{
		leveldb::Options options;
		options.create_if_missing = true;
		options.env = env_.get();
		options.filter_policy = filter_.get();
		options.write_buffer_size = 1 << 20;
		leveldb::DB *db = nullptr;
		check(leveldb::DB::Open(options, "/work", &db));
		db_.reset(db);
	}

	void fill()
	{
		for (uint32_t i = 0; i < keys_; i += BATCH) {
			leveldb::WriteBatch batch;
			for (uint32_t j = i; j < keys_ && j < i + BATCH; j++)
				batch.Put(key(scramble(j)), value(j));
			check(db_->Write(leveldb::WriteOptions(), &batch));
		}
	}

	void read()
	{
		uint32_t found = 0;
		uint64_t bytes = 0;
		std::string result;
		for (uint32_t i = 0; i < keys_; i++) {
			// Every third is not there.
			const uint32_t wanted = scramble(i % 3 ? i : i + keys_);
			const leveldb::Status status =
			    db_->Get(leveldb::ReadOptions(), key(wanted), &result);
			if (status.IsNotFound())
				continue;
			check(status);
			found++;
			bytes += result.size();
		}
		std::printf("read %u %llu\n", found, static_cast<unsigned long long>(bytes));
	}

	void scan(const char *when)
	{
		const std::unique_ptr<leveldb::Iterator> i(
		    db_->NewIterator(leveldb::ReadOptions()));
		uint32_t count = 0;
		uint32_t sum = 0;
		for (i->SeekToFirst(); i->Valid(); i->Next()) {
			count++;
			sum = sum * 31 + static_cast<unsigned char>(i->value()[0]);
		}
		check(i->status());
		std::printf("scan %s %u %08x\n", when, count, sum);
	}

	void change()
	{
		for (uint32_t i = 0; i < keys_; i += 4)
			check(db_->Put(leveldb::WriteOptions(), key(scramble(i)), value(i + 1)));
		for (uint32_t i = 1; i < keys_; i += 4)
			check(db_->Delete(leveldb::WriteOptions(), key(scramble(i))));
		db_->CompactRange(nullptr, nullptr);
	}

      private:
	static constexpr uint32_t BATCH = 16;

	static void check(const leveldb::Status &status)
	{
		if (status.ok())
			return;
		std::fprintf(stderr, "leveldb_work: %s\n", status.ToString().c_str());
		std::exit(1);
	}

	static uint32_t scramble(uint32_t x)
	{
		x ^= x >> 16;
		x *= UINT32_C(0x7feb352d);
		x ^= x >> 15;
		x *= UINT32_C(0x846ca68b);
		return x ^ x >> 16;
	}

	static std::string key(uint32_t number)
	{
		char text[16];
		std::snprintf(text, sizeof(text), "%010u", number);
		return text;
	}

	static std::string value(uint32_t number)
	{
		return std::string(60 + number % 80, static_cast<char>('a' + number % 26));
	}

	uint32_t keys_;
	std::unique_ptr<leveldb::Env> env_;
	std::unique_ptr<const leveldb::FilterPolicy> filter_;
	std::unique_ptr<leveldb::DB> db_;
};

} // namespace

int main(int argc, char **argv)
{
	const long keys = argc > 1 ? std::atol(argv[1]) : 0;
	if (keys < 100 || keys > 100000000) {
		std::fputs("usage: leveldb_work KEYS (at least 100)\n", stderr);
		return 129;
	}
	Work work(static_cast<uint32_t>(keys));
	work.fill();
	work.read();
	work.scan("filled");
	work.change();
	work.scan("changed");
	return 0;
}
