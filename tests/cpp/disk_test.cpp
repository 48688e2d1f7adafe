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
const Build kBuild{{1, 2}, {3, 4}, "some plugin"};
const About kAbout{"aten::add", "shape", "train.py:3", 0.5};
constexpr int64_t kHeader = 72 + 32 + (8 + 11) + (8 + 9) + (8 + 5) + (8 + 10) + 8;  // and what a file says of itself

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
  std::optional<std::string> read(uint64_t number, const Build& build = kBuild) const {
    return Disk(directory, kPlenty, build).read(key(number));
  }
  void write(uint64_t number, std::string_view record, int64_t capacity = kPlenty) const {
    Disk(directory, capacity, kBuild).write(key(number), kAbout, record);
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
  /// Where the record of that number is.
  fs::path file_of(uint64_t number) const {
    Hasher hasher;
    hasher.add(uint64_t{2});
    hasher.add(kBuild.core);
    hasher.add(kBuild.machine);
    hasher.add(key(number));
    return fs::path(directory) / (to_string(hasher.finish()) + ".program");
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
  disk.write(key(1), kAbout, record);
  disk.write(key(2), kAbout, "");
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
  EXPECT_EQ(read(1, {{1, 3}, kBuild.machine, ""}), std::nullopt);
  EXPECT_EQ(read(1, {kBuild.core, {3, 3}, ""}), std::nullopt);
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

TEST_F(DiskTest, FilesSayWhatTheyAre) {
  EXPECT_TRUE(list_files(directory, false).empty());
  auto before = std::chrono::system_clock::now().time_since_epoch();
  About long_name = kAbout;
  long_name.name.assign(20000, 'n');
  Disk(directory, kPlenty, kBuild).write(key(1), long_name, "one");
  write(2, std::string(10000, 'x'));
  fs::last_write_time(file_of(2), fs::file_time_type::clock::now() + std::chrono::minutes(1));
  for (bool whole : {false, true}) {
    std::vector<DiskFile> files = list_files(directory, whole);
    ASSERT_EQ(files.size(), 2u);
    EXPECT_EQ(files[1].about.name, long_name.name);
    EXPECT_EQ(files[0].path, file_of(2));
    EXPECT_EQ(files[0].fault, "");
    EXPECT_EQ(files[0].bytes, kHeader + 10000);
    EXPECT_EQ(files[0].about.name, kAbout.name);
    EXPECT_EQ(files[0].about.cause, kAbout.cause);
    EXPECT_EQ(files[0].about.line, kAbout.line);
    EXPECT_EQ(files[0].about.seconds, kAbout.seconds);
    EXPECT_EQ(files[0].build.core, kBuild.core);
    EXPECT_EQ(files[0].build.machine, kBuild.machine);
    EXPECT_EQ(files[0].build.plugin, kBuild.plugin);
    EXPECT_GE(files[0].written, std::chrono::duration<double>(before).count() - 1e-3);
    EXPECT_NEAR(files[0].used - files[0].written, 60, 30);
  }
}

TEST_F(DiskTest, FaultsOfFilesAreNamed) {
  write(1, std::string(10000, 'x'));
  const fs::path path = file();
  const std::string good = contents(path);
  auto fault = [&](const std::string& bytes, bool whole) {
    overwrite(path, bytes);
    return list_files(directory, whole).at(0).fault;
  };
  std::string damaged = good;
  damaged.back() = 'y';
  EXPECT_EQ(fault(damaged, true), "damaged");
  EXPECT_EQ(fault(damaged, false), "");  // its beginning is good
  for (bool whole : {false, true}) {
    EXPECT_EQ(fault(good, whole), "");
    EXPECT_EQ(fault("", whole), "cut short");
    EXPECT_EQ(fault(good.substr(0, good.size() - 1), whole), "cut short");
    EXPECT_EQ(fault(good + "x", whole), "damaged");
    EXPECT_EQ(fault(std::string(10000, ' '), whole), "foreign");
  }
  overwrite(path, good);
  fs::rename(path, path.parent_path() / "0123.program");
  EXPECT_EQ(list_files(directory, false).at(0).fault, "misnamed");
  fs::rename(file(), path.parent_path() / "0123.program.0123.new");
  EXPECT_EQ(list_files(directory, true).at(0).fault, "temporary");
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
  const std::string record(static_cast<size_t>(1000 - kHeader), 'x');
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
  const std::string record(static_cast<size_t>(1000 - kHeader), 'x');
  for (uint64_t number = 0; number < 100; ++number) {
    disk.write(key(number), kAbout, record);
    EXPECT_LE(files().size(), 22u);
  }
  EXPECT_GE(files().size(), 17u);
  EXPECT_EQ(disk.read(key(99)), record);
  EXPECT_GE(disk.stats().removed, 78);
}

TEST_F(DiskTest, ARecordLargerThanTheBoundIsNotKept) {
  write(1, "small", kHeader + 144);
  write(2, std::string(200, 'x'), kHeader + 144);
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
      disk.write(key(number), kAbout, record_of(number));
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

TEST_F(DiskTest, OneProcessMakesARecordAndOthersWait) {
  int made[2];
  ASSERT_EQ(pipe(made), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(fork());
    ASSERT_GE(children.back(), 0);
    if (children.back() == 0) {
      Disk disk(directory, kPlenty, kBuild);
      if (!disk.read(key(1))) {
        Disk::Claim claim = disk.claim(key(1));
        if (!claim.is_made()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          disk.write(key(1), kAbout, "record");
          if (::write(made[1], "x", 1) != 1) _exit(2);
        }
      }
      _exit(disk.read(key(1)) == "record" ? 0 : 1);
    }
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  char letters[8];
  EXPECT_EQ(::read(made[0], letters, sizeof letters), 1);
  for (int end : made) close(end);
  EXPECT_EQ(files().size(), 1u);  // no claim is left
}

TEST_F(DiskTest, AClaimEndsWithItsProcess) {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Disk disk(directory, kPlenty, kBuild);
    Disk::Claim claim = disk.claim(key(1));
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(files().size(), 1u);
  Disk disk(directory, kPlenty, kBuild);
  EXPECT_FALSE(disk.claim(key(1)).is_made());
  EXPECT_TRUE(files().empty());
}

TEST_F(DiskTest, AKilledWriterLeavesWholeRecordsOnly) {
  const std::string record(3 << 20, 'x');
  for (int round = 0; round < 12; ++round) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Disk disk(directory, int64_t{1} << 30, kBuild);
      for (;;) disk.write(key(1), kAbout, record);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::optional<std::string> found = Disk(directory, int64_t{1} << 30, kBuild).read(key(1));
    EXPECT_TRUE(!found || *found == record);
    for (const DiskFile& file : list_files(directory, true))
      EXPECT_TRUE(file.fault.empty() || file.fault == "temporary");
  }
  // What it was writing goes when somebody looks an hour later.
  auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const fs::path& path : files()) fs::last_write_time(path, old);
  write(2, "record", int64_t{1} << 30);
  EXPECT_LE(files().size(), 2u);
}

// --------------------------------------------------------------------------------------------------------------
// trouble

TEST_F(DiskTest, ADirectoryThatCannotBeWrittenIsReadStill) {
  write(1, "before");
  fs::permissions(directory,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(file(), fs::perms::others_read, fs::perm_options::add);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // Root may write everywhere.
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
    Disk disk(directory, kPlenty, kBuild);
    bool good = disk.read(key(1)) == "before" && !disk.claim(key(2)).is_made();
    disk.write(key(2), kAbout, "record");
    good &= disk.stats().bytes_written == 0 && !disk.read(key(2)) && disk.read(key(1)) == "before";
    _exit(good ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  fs::permissions(directory, fs::perms::owner_all);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(DiskTest, OffKeepsNothing) {
  Disk nowhere("", kPlenty, kBuild), empty(directory, 0, kBuild);
  for (Disk* disk : {&nowhere, &empty}) {
    EXPECT_FALSE(disk->is_on());
    disk->write(key(1), kAbout, "record");
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
    disk.write(key(number), kAbout, "record");
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
  disk.write(key(1), kAbout, "record");
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
    disk.write(key(2), kAbout, std::string(5000, 'x'));
    disk.write(key(3), kAbout, "would fit, but nothing is tried any more");
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
