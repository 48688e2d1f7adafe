// cache::Disk: what was written is found by every process; what is damaged, foreign, of another build or too much is
// not; trouble with the directory is only a miss.
#include "cache/disk.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace tpu::cache {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPlenty = 1 << 20;
constexpr int64_t kHeader = 56;
const Hash128 kBuild{1, 2};

Hash128 key(uint64_t number) { return {number, ~number}; }

class DiskTest : public ::testing::Test {
 protected:
  DiskTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory = ::testing::TempDir() + "/disk_test_" + std::to_string(getpid()) + test->name();
    fs::remove_all(directory);
  }
  ~DiskTest() override { fs::remove_all(directory); }

  /// As another process sees the directory.
  std::optional<std::string> read(uint64_t number, const Hash128& build = kBuild) const {
    return Disk(directory, kPlenty, build).read(key(number));
  }
  void write(uint64_t number, std::string_view record, int64_t capacity = kPlenty) const {
    Disk(directory, capacity, kBuild).write(key(number), record);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(directory, missing)) found.push_back(entry.path());
    return found;
  }
  /// The only file.
  fs::path file() const {
    EXPECT_EQ(files().size(), 1u);
    return files().at(0);
  }
  static std::string contents(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }
  static void overwrite(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string directory;
};

TEST_F(DiskTest, AnotherProcessFindsWhatWasWritten) {
  Disk disk(directory, kPlenty, kBuild);
  EXPECT_EQ(disk.read(key(1)), std::nullopt);
  std::string record("\0binary\n\xff", 9);
  disk.write(key(1), record);
  disk.write(key(2), "");
  EXPECT_EQ(disk.read(key(1)), record);
  EXPECT_EQ(read(1), record);
  EXPECT_EQ(read(2), "");
  EXPECT_EQ(read(3), std::nullopt);
  DiskStats stats = disk.stats();
  EXPECT_EQ(stats.hits, 1);
  EXPECT_EQ(stats.misses, 1);
  EXPECT_EQ(stats.bytes_written, 9);
  EXPECT_EQ(stats.bytes_read, 9);
  EXPECT_EQ(stats.removed, 0);
}

TEST_F(DiskTest, AnotherBuildFindsNothing) {
  write(1, "mine");
  EXPECT_EQ(read(1, {1, 3}), std::nullopt);
  EXPECT_EQ(read(1, {2, 2}), std::nullopt);
  EXPECT_EQ(read(1), "mine");  // and it was left alone
}

TEST_F(DiskTest, TheLastOneWrittenIsFound) {
  write(1, "old");
  write(1, "new and longer");
  EXPECT_EQ(read(1), "new and longer");
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(DiskTest, AnyFlippedBitIsNoticedAndTheFileRemoved) {
  write(1, "a record of some length");
  const fs::path path = file();
  const std::string good = contents(path);
  ASSERT_EQ(good.size(), kHeader + 23u);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    overwrite(path, damaged);
    EXPECT_EQ(read(1), std::nullopt) << "byte " << i;
    EXPECT_FALSE(fs::exists(path)) << "byte " << i;
  }
  write(1, "again");
  EXPECT_EQ(read(1), "again");
}

TEST_F(DiskTest, ShortAndLongAndForeignFilesAreRemoved) {
  write(1, "a record of some length");
  const fs::path path = file();
  const std::string good = contents(path);
  for (size_t size = 0; size < good.size(); ++size) {
    overwrite(path, good.substr(0, size));
    EXPECT_EQ(read(1), std::nullopt) << size;
    EXPECT_FALSE(fs::exists(path)) << size;
  }
  for (const std::string& bytes : {good + "x", std::string("#!/bin/sh\n"), std::string(4096, '\0')}) {
    overwrite(path, bytes);
    Disk disk(directory, kPlenty, kBuild);
    EXPECT_EQ(disk.read(key(1)), std::nullopt);
    EXPECT_FALSE(fs::exists(path));
    EXPECT_EQ(disk.stats().removed, 1);
    EXPECT_EQ(disk.stats().misses, 1);
  }
}

TEST_F(DiskTest, AFileUnderAnothersNameIsForeign) {
  write(1, "one");
  const fs::path one = file();
  write(2, "two");
  for (const fs::path& path : files())
    if (path != one) fs::rename(one, path);
  EXPECT_EQ(read(2), std::nullopt);
}

TEST_F(DiskTest, ADiscardedRecordWasAMiss) {
  write(1, "nonsense");
  Disk disk(directory, kPlenty, kBuild);
  ASSERT_TRUE(disk.read(key(1)));
  disk.discard(key(1));
  EXPECT_EQ(disk.read(key(1)), std::nullopt);
  EXPECT_EQ(disk.stats().hits, 0);
  EXPECT_EQ(disk.stats().misses, 2);
}

// ------------------------------------------------------------------------------------------------------------ the
// bound

TEST_F(DiskTest, TheLeastRecentlyUsedMakeRoom) {
  const std::string record(1000 - kHeader, 'x');
  auto now = fs::file_time_type::clock::now();
  for (uint64_t number = 0; number < 10; ++number) {
    auto before = files();
    write(number, record);
    for (const fs::path& path : files())
      if (std::find(before.begin(), before.end(), path) == before.end())
        fs::last_write_time(path, now - std::chrono::minutes(100 - static_cast<int>(number)));
  }
  EXPECT_EQ(read(0), record);            // the oldest is used now
  write(10, record, /*capacity=*/5500);  // 11 files are there; goes down to 4950 bytes
  EXPECT_EQ(files().size(), 4u);
  for (uint64_t number : {0, 8, 9, 10}) EXPECT_EQ(read(number), record) << number;
}

TEST_F(DiskTest, OneProcessStaysNearTheBound) {
  Disk disk(directory, 20000, kBuild);
  const std::string record(1000 - kHeader, 'x');
  for (uint64_t number = 0; number < 100; ++number) {
    disk.write(key(number), record);
    EXPECT_LE(files().size(), 22u);
  }
  EXPECT_GE(files().size(), 17u);
  EXPECT_EQ(disk.read(key(99)), record);
  EXPECT_GE(disk.stats().removed, 78);
}

TEST_F(DiskTest, ARecordLargerThanTheBoundIsNotKept) {
  write(1, "small", 200);
  write(2, std::string(200, 'x'), 200);
  EXPECT_EQ(read(1), "small");
  EXPECT_EQ(read(2), std::nullopt);
}

TEST_F(DiskTest, OthersFilesAreLeftAloneAndLeftOversAreNot) {
  fs::create_directories(directory);
  auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const char* name : {"notes.txt", "cut.program.0123.new", "running.program.4567.new"})
    overwrite(directory + "/" + name, std::string(3000, 'x'));
  fs::last_write_time(directory + "/notes.txt", old);
  fs::last_write_time(directory + "/cut.program.0123.new", old);
  write(1, "record", 4000);
  EXPECT_TRUE(fs::exists(directory + "/notes.txt"));
  EXPECT_FALSE(fs::exists(directory + "/cut.program.0123.new"));
  EXPECT_TRUE(fs::exists(directory + "/running.program.4567.new"));
  EXPECT_EQ(read(1), "record");
}

// ------------------------------------------------------------------------------------------------------- many at a
// time

std::string record_of(uint64_t number) {
  return std::string(2000 + 500 * number, static_cast<char>('a' + number)) + std::to_string(number);
}

/// Writes and reads ten keys again and again; whether every record found was whole.
bool work(Disk& disk) {
  bool good = true;
  for (int round = 0; round < 40; ++round) {
    for (uint64_t number = 0; number < 10; ++number) {
      disk.write(key(number), record_of(number));
      std::optional<std::string> found = disk.read(key(number));
      good &= !found || *found == record_of(number);
    }
  }
  return good;
}

TEST_F(DiskTest, ProcessesThatWriteAtOnceSeeWholeRecordsOnly) {
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(fork());
    ASSERT_GE(children.back(), 0);
    if (children.back() == 0) {
      Disk disk(directory, 30000, kBuild);  // room for seven of ten, so that they take each other's away as well
      bool good = work(disk) && disk.stats().hits > 0;
      _exit(good ? 0 : 1);
    }
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (const fs::path& path : files()) EXPECT_EQ(path.extension(), ".program");
}

TEST_F(DiskTest, ThreadsShareOneDisk) {
  Disk disk(directory, kPlenty, kBuild);
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { good += work(disk); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 3);
  EXPECT_EQ(disk.stats().hits, 1200);
}

// --------------------------------------------------------------------------------------------------------------
// trouble

TEST_F(DiskTest, OffKeepsNothing) {
  Disk nowhere("", kPlenty, kBuild), empty(directory, 0, kBuild);
  for (Disk* disk : {&nowhere, &empty}) {
    EXPECT_FALSE(disk->is_on());
    disk->write(key(1), "record");
    EXPECT_EQ(disk->read(key(1)), std::nullopt);
    disk->discard(key(1));
    EXPECT_EQ(disk->stats().misses, 0);
  }
  EXPECT_FALSE(fs::exists(directory));
}

TEST_F(DiskTest, ADirectoryThatCannotBeMadeIsOnlyAMiss) {
  overwrite(directory, "a file where the directory should be");
  Disk disk(directory, kPlenty, kBuild);
  for (uint64_t number = 0; number < 3; ++number) {
    EXPECT_EQ(disk.read(key(number)), std::nullopt);
    disk.write(key(number), "record");
  }
  EXPECT_EQ(disk.stats().misses, 3);
  EXPECT_EQ(disk.stats().bytes_written, 0);
}

TEST_F(DiskTest, ADirectoryInTheWayOfAFileIsOnlyAMiss) {
  write(1, "record");
  const fs::path path = file();
  fs::remove(path);
  fs::create_directories(path / "in the way");
  Disk disk(directory, kPlenty, kBuild);
  EXPECT_EQ(disk.read(key(1)), std::nullopt);
  disk.write(key(1), "record");
  EXPECT_EQ(files().size(), 1u);  // no temporary file is left
  EXPECT_EQ(disk.read(key(1)), std::nullopt);
}

TEST_F(DiskTest, AFullDiskEndsTheWriting) {
  write(1, "before");
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    Disk disk(directory, kPlenty, kBuild);
    disk.write(key(2), std::string(5000, 'x'));
    disk.write(key(3), "would fit, but nothing is tried any more");
    bool good = disk.stats().bytes_written == 0 && disk.read(key(1)) == "before" && !disk.read(key(2));
    _exit(good ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files().size(), 1u);  // the part that was written is gone
}

}  // namespace
}  // namespace tpu::cache
